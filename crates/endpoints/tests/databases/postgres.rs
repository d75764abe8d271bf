//! PostgreSQL's types, errors and initialization.

use crate::{INIT, run, server};
use endpoints::{SqlConnection, SqlLimits, SqlSettings};
use serde_json::{Value, json};

#[tokio::test]
async fn types_are_converted_to_json() {
    let Some(db) = server::open(true, None).await else { return };
    let check = async |query: &str, expected: &str| {
        let query = format!("select {query} as v");
        let seen = run(&db, "SqlQuery", &query, json!({})).await;
        let seen = seen.strip_prefix(r#"[{"v":"#).and_then(|seen| seen.strip_suffix("}]")).unwrap_or(&seen);
        assert_eq!(seen, expected, "{query}");
    };
    check("1::int2", "1").await;
    check("-7", "-7").await;
    check("9223372036854775807", "9223372036854775807").await;
    check("4294967295::oid", "4294967295").await;
    check("0.1::real", "0.1").await;
    check("1e300::float8", "1e+300").await;
    check("'NaN'::float8", r#""NaN""#).await;
    check("'-Infinity'::real", r#""-Infinity""#).await;
    check("19.90::numeric(10,2)", "19.9").await;
    check("(select sum(x) from (values (2::bigint), (3)) as t(x))", "5").await;
    check("123456789012345678901234567890.5", r#""123456789012345678901234567890.5""#).await;
    check("-0.00001234::numeric", "-0.00001234").await;
    check("1e20::numeric", "1e+20").await;
    check("'Infinity'::numeric", r#""Infinity""#).await;
    check("true", "true").await;
    check("null::int", "null").await;
    check("'ü'::varchar(3)", r#""ü""#).await;
    check("'a'::char(3)", r#""a  ""#).await;
    check(r#"'a'::"char""#, r#""a""#).await;
    check("current_database()::name is not null", "true").await;
    check(r#"'{"b": 1, "a": [null]}'::json"#, r#"{"b":1,"a":[null]}"#).await;
    check(r#"'{"a": [null, 1.5]}'::jsonb"#, r#"{"a":[null,1.5]}"#).await;
    check("'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", r#""a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11""#).await;
    check(r"'\x0102ff'::bytea", r#""AQL/""#).await;
    check("'2024-02-29 13:00:00.5+02'::timestamptz", r#""2024-02-29T11:00:00.5Z""#).await;
    check("'1969-12-31 23:59:59.999999'::timestamp", r#""1969-12-31T23:59:59.999999""#).await;
    check("'infinity'::timestamptz", r#""infinity""#).await;
    check("'1999-12-31'::date", r#""1999-12-31""#).await;
    check("'-infinity'::date", r#""-infinity""#).await;
    check("'24:00'::time", r#""24:00:00""#).await;
    check("'09:05:00.25'::time", r#""09:05:00.25""#).await;
    check("array[1, null, 3]", "[1,null,3]").await;
    check("array[['a', 'b'], ['c', null]]", r#"[["a","b"],["c",null]]"#).await;
    check("'{}'::text[]", "[]").await;
    check("'[5:6]={1.5,2}'::numeric[]", "[1.5,2]").await;
    check("array['2024-01-01'::date]", r#"["2024-01-01"]"#).await;
    check("pg_sleep(0)", "null").await;
    let unknown = |kind: &str| {
        format!(
            "failed: the column `v` contains a value of the type {kind} that cannot be converted to JSON; cast it, for example to text (`v::text`)"
        )
    };
    check("'1 day'::interval", &unknown("interval")).await;
    check("row(1, 2)", &unknown("record")).await;
    check("'20000-01-01'::date", &unknown("date")).await;
    check("('1 day'::interval)::text", r#""1 day""#).await;
}

#[tokio::test]
async fn parameter_types_are_inferred() {
    let init = "create type mood as enum ('glad', 'sad'); create domain age as int check (value >= 0);
        create table t (i int2, l int8, f real, n numeric(10,2), b bool, s varchar(5), c char(3), j jsonb, u uuid, z timestamptz, d date,
            y bytea, li int[], ls text[], m mood, g age, iv interval, bits bit(3))";
    let Some(db) = server::open(false, Some(init)).await else { return };
    let check = async |column: &str, value: Value, expected: &str| {
        let query = format!("insert into t ({column}) values (:v) returning {column}::text as v");
        let seen = run(&db, "SqlExecute", &query, json!({ "v": value })).await;
        let seen = seen
            .strip_prefix(r#"{"rowsAffected":1,"rows":[{"v":"#)
            .and_then(|seen| seen.strip_suffix("}]}"))
            .unwrap_or(&seen);
        assert_eq!(seen, expected, "{column} = {value}");
    };
    check("i", json!(7), r#""7""#).await;
    check("i", json!("7"), r#""7""#).await;
    check("i", json!(7.0), r#""7""#).await;
    check("i", json!(null), "null").await;
    check("i", json!(7.5), r#"failed: invalid input syntax for type smallint: "7.5""#).await;
    check("i", json!(70000), r#"failed: value "70000" is out of range for type smallint"#).await;
    check("i", json!([1]), "failed: the parameter `v` must have the type int2, but is a list").await;
    check("l", json!(9_223_372_036_854_775_807_i64), r#""9223372036854775807""#).await;
    check("f", json!(0.1), r#""0.1""#).await;
    check("n", json!("19.90"), r#""19.90""#).await;
    check("n", json!("many"), r#"failed: invalid input syntax for type numeric: "many""#).await;
    check("b", json!(true), r#""true""#).await;
    check("b", json!({}), "failed: the parameter `v` must have the type bool, but is a mapping").await;
    check("s", json!("ab"), r#""ab""#).await;
    check("s", json!("abcdef"), "failed: value too long for type character varying(5)").await;
    check(
        "s",
        json!("a\u{0}"),
        "failed: the parameter `v` contains the character NUL, which PostgreSQL does not allow in text",
    )
    .await;
    check("c", json!("abc"), r#""abc""#).await;
    check("j", json!({ "a": [1, null] }), r#""{\"a\": [1, null]}""#).await;
    check("j", json!("text"), r#""\"text\"""#).await;
    check("u", json!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), r#""a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11""#).await;
    check("u", json!("x"), r#"failed: invalid input syntax for type uuid: "x""#).await;
    check("z", json!("2024-02-29T13:00:00+02:00"), r#""2024-02-29 11:00:00+00""#).await;
    check("z", json!("soon"), r#"failed: invalid input syntax for type timestamp with time zone: "soon""#).await;
    check("d", json!("2024-02-30"), r#"failed: date/time field value out of range: "2024-02-30""#).await;
    check("y", json!("AQL/"), r#""\\x0102ff""#).await;
    check("y", json!("?"), "failed: the parameter `v` must be bytes in base64").await;
    check("li", json!([1, null, 3]), r#""{1,NULL,3}""#).await;
    check("li", json!([]), r#""{}""#).await;
    check("li", json!(["x"]), r#"failed: invalid input syntax for type integer: "x""#).await;
    check("ls", json!([["a\"b", "c\\d"], ["NULL", ""]]), r#""{{\"a\\\"b\",\"c\\\\d\"},{\"NULL\",\"\"}}""#).await;
    check("m", json!("glad"), r#""glad""#).await;
    check("m", json!("bored"), r#"failed: invalid input value for enum mood: "bored""#).await;
    check("g", json!(-1), r#"failed: value for domain age violates check constraint "age_check""#).await;
    check("iv", json!("1 day"), r#""1 day""#).await;
    check("bits", json!("101"), r#""101""#).await;

    let read = async |query: &str, payload: Value, expected: &str| {
        assert_eq!(run(&db, "SqlQuery", query, payload).await, expected, "{query}");
    };
    read("select count(*) as n from t where i = any(:list)", json!({ "list": [7, 8] }), r#"[{"n":3}]"#).await;
    read("select count(*) as n from t where c = :c", json!({ "c": "abc" }), r#"[{"n":1}]"#).await;
    read("select :a::int + :b as n, :a::text as a", json!({ "a": 1, "b": 2 }), r#"[{"n":3,"a":"1"}]"#).await;
    let unclear = "failed: inconsistent types deduced for parameter `:a`; state its type, for example `:name::text`";
    read("insert into t (i, s) values (:a, :a)", json!({ "a": 1 }), unclear).await;
    read("select (:a::int[])[:i] as v, $$ :x $$ as d", json!({ "a": [5, 6], "i": 2 }), r#"[{"v":6,"d":" :x "}]"#).await;
    read("select '{\"k\": 1}'::jsonb ? :k as v", json!({ "k": "k" }), r#"[{"v":true}]"#).await;
    read(
        "select jsonb_build_object('a', :a) as v",
        json!({ "a": 1 }),
        "failed: could not determine data type of parameter `:a`; state its type, for example `:name::text`",
    )
    .await;
}

#[tokio::test]
async fn errors_are_reported() {
    let Some(db) = server::open(false, Some("create table a (id int primary key, b int not null, unique (b) deferrable initially deferred); insert into a values (1, 1)")).await else { return };
    let check = async |kind: &str, query: &str, expected: &str| {
        assert_eq!(run(&db, kind, query, json!({})).await, format!("failed: {expected}"), "{query}");
    };
    check("SqlQuery", "select * from nowhere", r#"relation "nowhere" does not exist"#).await;
    check("SqlQuery", "selct 1", r#"syntax error at or near "selct""#).await;
    check("SqlQuery", "select 1/0", "division by zero").await;
    check("SqlQuery", "select nextval('x' || 1)", r#"relation "x1" does not exist"#).await;
    check("SqlQuery", "select upper(1)", "function upper(integer) does not exist (No function matches the given name and argument types. You might need to add explicit type casts.)").await;
    check("SqlExecute", "insert into a values (1, 2)", r#"duplicate key value violates unique constraint "a_pkey""#)
        .await;
    check(
        "SqlExecute",
        "insert into a values (2, null)",
        r#"null value in column "b" of relation "a" violates not-null constraint"#,
    )
    .await;
    // Reported by `COMMIT`.
    check("SqlExecute", "insert into a values (2, 1)", r#"duplicate key value violates unique constraint "a_b_key""#)
        .await;
    check("SqlQuery", "insert into a values (3, 3) returning id", "cannot execute INSERT in a read-only transaction")
        .await;
    check("SqlQuery", "select pg_read_file('/no/such/file')", "the database failed").await;
    // A change whose result is too long is rolled back.
    let few = db.clone().with_limits(SqlLimits { rows: 1, ..SqlLimits::default() });
    let seen =
        run(&few, "SqlExecute", "insert into a select x, x from generate_series(10, 20) as x returning id", json!({}))
            .await;
    assert_eq!(seen, "failed: the result has more than 1 rows; add a `limit` to the statement");
    // A transaction that a statement opens does not stay open for the next one.
    for statement in ["begin", "savepoint x", "commit", "rollback and chain"] {
        run(&db, "SqlExecute", statement, json!({})).await;
        let kept = run(&db, "SqlExecute", "update a set b = b", json!({})).await;
        assert_eq!(kept, r#"{"rowsAffected":1}"#, "after {statement}");
    }
    // A connection with a prepared statement for the old table uses the new one.
    assert_eq!(run(&db, "SqlQuery", "select * from a", json!({})).await, r#"[{"id":1,"b":1}]"#);
    run(&db, "SqlExecute", "alter table a add c int", json!({})).await;
    assert_eq!(run(&db, "SqlQuery", "select * from a", json!({})).await, r#"[{"id":1,"b":1,"c":null}]"#);
}

#[tokio::test]
async fn new_database_is_initialized_once() {
    let Some(url) = server::new_database().await else { return };
    let settings =
        |read_only, init: &str| SqlSettings { url: url.clone().into(), read_only, init: Some(init.to_owned()) };
    let count = "select count(*) as n from notes";
    let broken = SqlConnection::open(&settings(false, "create table notes (text text); insert into note values (1)"))
        .await
        .unwrap();
    let refused = run(&broken, "SqlQuery", count, json!({})).await;
    assert_eq!(refused, r#"failed: the database could not be set up: relation "note" does not exist"#);
    let mut both = Vec::new();
    for _ in 0..2 {
        both.push(SqlConnection::open(&settings(false, INIT)).await.unwrap());
    }
    let counts = futures::future::join_all(both.iter().map(|db| run(db, "SqlQuery", count, json!({})))).await;
    assert_eq!(counts, [r#"[{"n":1}]"#; 2]);
    let again = SqlConnection::open(&settings(true, INIT)).await.unwrap();
    assert_eq!(run(&again, "SqlQuery", count, json!({})).await, r#"[{"n":1}]"#);
}
