//! Routines with a real database.

mod calls;

use contract::CallReports;
use endpoints::{CallContext, Connection, Endpoint, Endpoints, SqlConnection, SqlSettings};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const INIT: &str =
    "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT UNIQUE, price REAL, body BLOB, is_open BOOLEAN);
    INSERT INTO articles (title, price, body, is_open) VALUES ('Refunds', 1.5, NULL, 1), ('Returns', 2, x'0102', 0)";
/// A statement that never ends.
const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

async fn endpoints(read_only: bool, time: Duration, routines: &[(&str, Value)]) -> Endpoints {
    let settings = SqlSettings { url: "sqlite::memory:".into(), read_only, init: Some(INIT.to_owned()) };
    let kb = SqlConnection::open(&settings).await.unwrap();
    let endpoint = |(id, routine): &(&str, Value)| Endpoint {
        id: (*id).to_owned(),
        description: Some("Does something.".to_owned()),
        payload_schema: Some(
            json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] }),
        ),
        routine: serde_json::from_value(routine.clone()).unwrap(),
        ..Endpoint::default()
    };
    let connections = HashMap::from([("kb".to_owned(), Connection::Sql(kb))]);
    Endpoints::new(routines.iter().map(endpoint).collect(), connections, time).unwrap()
}

fn context() -> CallContext {
    CallContext {
        agent: None,
        user_id: "ada".to_owned(),
        gate: Arc::new(|_: &str| Ok(())),
        models: contract::ModelUse::default(),
        idempotency_key: None,
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
    }
}

async fn call(endpoints: &Endpoints, id: &str, payload: Value) -> String {
    let answer = endpoints.call(id, payload, &context()).await;
    answer.map_or_else(|error| error.to_string(), |value| value.to_string())
}

async fn check(routine: Value, payload: Value, expected: &str) {
    let endpoints = endpoints(false, Duration::from_secs(20), &[("e", routine)]).await;
    assert_eq!(call(&endpoints, "e", payload).await, expected);
}

fn sql(kind: &str, query: &str, parameters: Value) -> Value {
    json!({ "id": "s", "type": kind, "connectionId": "kb", "properties": { "query": query, "parameters": parameters } })
}

fn answer_of(kind: &str, query: &str, parameters: Value) -> Value {
    json!([sql(kind, query, parameters), { ":return": { "_step": "s" } }])
}

#[tokio::test]
async fn queries_return_rows() {
    let query = "select title, price, body, is_open from articles where title like '%' || :q || '%' order by title";
    let hits = sql("SqlQuery", query, json!({ "q": { "_payload": "q" } }));
    let found = json!([hits, { ":return": { "hits": { "_step": "s" }, "by": { "_user": "id" } } }]);
    let refunds = r#"{"title":"Refunds","price":1.5,"body":null,"is_open":true}"#;
    let returns = r#"{"title":"Returns","price":2.0,"body":"AQI=","is_open":false}"#;
    check(found.clone(), json!({ "q": "Re" }), &format!(r#"{{"hits":[{refunds},{returns}],"by":"ada"}}"#)).await;
    check(found, json!({ "q": "'; DROP TABLE articles; --" }), r#"{"hits":[],"by":"ada"}"#).await;
    let all =
        json!({ "n": null, "b": true, "i": 9_007_199_254_740_993_i64, "f": 0.5, "t": "ü'", "l": [1], "o": { "a": 1 } });
    let echo = answer_of("SqlQuery", "select :n as n, :b as b, :i as i, :f as f, :t as t, :l as l, :o as o", all);
    let echoed = r#"[{"n":null,"b":1,"i":9007199254740993,"f":0.5,"t":"ü'","l":"[1]","o":"{\"a\":1}"}]"#;
    check(echo, json!({ "q": "" }), echoed).await;
}

#[tokio::test]
async fn statements_return_affected_rows() {
    let title = json!({ "q": { "_payload": "q" } });
    let delete = answer_of("SqlExecute", "delete from articles where title = :q", title.clone());
    check(delete.clone(), json!({ "q": "Refunds" }), r#"{"rowsAffected":1}"#).await;
    check(delete, json!({ "q": "Nothing" }), r#"{"rowsAffected":0}"#).await;
    let insert = answer_of("SqlExecute", "insert into articles (title) values (:q) returning id", title);
    check(insert.clone(), json!({ "q": "New" }), r#"{"rowsAffected":1,"rows":[{"id":3}]}"#).await;
    check(insert, json!({ "q": "Refunds" }), "The step `s` failed: UNIQUE constraint failed: articles.title").await;
}

#[tokio::test]
async fn errors_are_reported_to_the_caller() {
    let q = json!({ "q": "" });
    check(json!([]), json!({}), r#"The payload is invalid at /: "q" is a required property"#).await;
    check(json!([]), json!({ "q": 7 }), r#"The payload is invalid at /q: 7 is not of type "string""#).await;
    let wrong = answer_of("SqlQuery", "selec 1", json!({}));
    check(wrong, q.clone(), "The step `s` failed: near \"selec\": syntax error").await;
    let missing = answer_of("SqlQuery", "select :x", json!({}));
    check(missing, q.clone(), "The step `s` failed: the parameter `x` is missing").await;
    let many = answer_of(
        "SqlQuery",
        "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n",
        json!({}),
    );
    let too_many = "The step `s` failed: the result has more than 1000 rows; add a `limit` to the statement";
    check(many, q.clone(), too_many).await;
    let large = answer_of("SqlQuery", "select hex(zeroblob(3000000)) as a", json!({}));
    check(large, q.clone(), "The step `s` failed: the result has more than 4194304 bytes; select less").await;
    check(json!([{ ":reject": "Not today." }]), q.clone(), "Not today.").await;
    check(json!([{ ":throw": { "code": { "_payload": "q" } } }]), q, r#"{"code":""}"#).await;
}

#[tokio::test]
async fn conditions_and_state_are_evaluated() {
    let routine = json!([
        { ":set_state": { "n": { "_payload": "q" }, "m": 1 } },
        { ":set_state": { "n": { "_state": "m" }, "m": { "_state": "n" } } },
        { ":if": { "_eq": [{ "_state": "m" }, "yes"] }, ":then": { ":return": 1 }, ":else": [{ ":log": "no" }] },
        { ":return": { "_state": true } },
    ]);
    check(routine.clone(), json!({ "q": "yes" }), "1").await;
    check(routine, json!({ "q": "no" }), r#"{"n":1,"m":"no"}"#).await;
    check(json!([{ ":log": "hello" }]), json!({ "q": "" }), "null").await;
    let many = json!(vec![json!({ ":set_state": {} }); 1_001]);
    check(many, json!({ "q": "" }), "The routine did not finish within 1000 steps.").await;
}

#[tokio::test]
async fn switches_and_loops_are_run() {
    let switch = json!([{
        ":switch": [
            { ":case": { "_eq": [{ "_payload": "q" }, "a"] }, ":then": { ":return": "first" } },
            { ":case": { "_payload": "q" }, ":then": [{ ":return": "some" }] },
        ],
        ":default": { ":return": "none" },
    }]);
    check(switch.clone(), json!({ "q": "a" }), r#""first""#).await;
    check(switch.clone(), json!({ "q": "b" }), r#""some""#).await;
    check(switch, json!({ "q": "" }), r#""none""#).await;
    let insert =
        sql("SqlExecute", "insert into articles (title) values (:t)", json!({ "t": { "_item": "row.title" } }));
    let each = json!([
        { ":for": "row", ":in": [{ "title": "A" }, { "title": "B" }], ":do": [insert] },
        sql("SqlQuery", "select title from articles where id > 2 order by id", json!({})),
        { ":return": { "rows": { "_step": "s" }, "after": { "_item": "row" } } },
    ]);
    check(each, json!({ "q": "" }), r#"{"rows":[{"title":"A"},{"title":"B"}],"after":null}"#).await;
    let nested = json!([{ ":for": "x", ":in": [1, 2], ":do": { ":for": "y", ":in": [2, 3], ":do": {
        ":if": { "_eq": [{ "_item": "x" }, { "_item": "y" }] }, ":then": { ":return": { "_item": true } } } } }]);
    check(nested, json!({ "q": "" }), r#"{"x":2,"y":2}"#).await;
    let no_list = json!([{ ":for": "x", ":in": { "_payload": "q" }, ":do": [] }]);
    check(no_list, json!({ "q": "" }), "The step `:for` failed: `:in` is not a list").await;
    let long = json!([{ ":for": "x", ":in": vec![0; 2_000], ":do": [] }]);
    check(long, json!({ "q": "" }), "The routine did not finish within 1000 steps.").await;
}

#[tokio::test]
async fn parallel_branches_merge_their_values() {
    let select = |id: &str, value: i32| json!({ "id": id, "type": "SqlQuery", "connectionId": "kb", "properties": { "query": format!("select {value} as n") } });
    let both = json!([
        { ":set_state": { "kept": 1, "changed": 1 } },
        { ":parallel": [[select("a", 1), { ":set_state": { "changed": 2 } }], select("b", 2)] },
        { ":return": { "steps": { "_step": true }, "state": { "_state": true } } },
    ]);
    let found = r#"{"steps":{"a":[{"n":1}],"b":[{"n":2}]},"state":{"kept":1,"changed":2}}"#;
    check(both, json!({ "q": "" }), found).await;
    let returns =
        json!([{ ":parallel": [select("a", 1), { ":return": "b" }, { ":return": "c" }] }, { ":return": "late" }]);
    check(returns, json!({ "q": "" }), r#""b""#).await;
    // The failing branch cancels one that would never end.
    let endless = sql("SqlQuery", ENDLESS, json!({}));
    check(json!([{ ":parallel": [endless, { ":throw": "enough" }] }]), json!({ "q": "" }), "enough").await;
}

#[tokio::test]
async fn errors_can_be_caught() {
    let wrong = sql("SqlQuery", "select * from nowhere", json!({}));
    let tried =
        |body: Value| json!([{ ":try": body, ":catch": { ":return": { "_error": true } } }, { ":return": "on" }]);
    let q = || json!({ "q": "" });
    check(tried(wrong), q(), r#"{"message":"no such table: nowhere","step":"s"}"#).await;
    check(tried(json!({ ":throw": "oops" })), q(), r#"{"message":"oops"}"#).await;
    check(tried(json!([])), q(), r#""on""#).await;
    check(tried(json!({ ":reject": "Not you." })), q(), "Not you.").await;
    let cleaned = |finally: Value| json!([{ ":try": { ":return": 1 }, ":finally": finally }]);
    check(cleaned(json!([])), q(), "1").await;
    check(cleaned(json!({ ":return": 2 })), q(), "2").await;
    check(cleaned(json!({ ":throw": "late" })), q(), "late").await;
    check(json!([{ ":try": { ":throw": "first" }, ":finally": { ":log": "cleaned" } }]), q(), "first").await;
}

#[tokio::test]
async fn endpoints_can_call_endpoints() {
    let call_of = |endpoint: &str, payload: Value| json!({ "id": "c", "type": "CallEndpoint", "properties": { "endpointId": endpoint, "payload": payload } });
    let result = || json!({ ":return": { "_step": "c" } });
    let routines = [
        ("echo", json!([{ ":return": { "said": { "_payload": "q" }, "by": { "_user": "id" } } }])),
        ("outer", json!([call_of("echo", json!({ "q": { "_payload": "q" } })), result()])),
        ("unfit", json!([call_of("echo", json!({})), result()])),
        ("nowhere", json!([call_of("none", json!({})), result()])),
        ("endless", json!([call_of("endless", json!({ "q": "" })), result()])),
        ("rejects", json!([{ ":reject": "Not you." }])),
        ("rejected", json!([{ ":try": call_of("rejects", json!({ "q": "" })), ":catch": { ":return": "caught" } }])),
    ];
    let endpoints = endpoints(false, Duration::from_secs(20), &routines).await;
    for (id, expected) in [
        ("outer", r#"{"said":"x","by":"ada"}"#),
        ("unfit", r#"The step `c` failed: The payload is invalid at /: "q" is a required property"#),
        ("nowhere", "The step `c` failed: There is no such endpoint."),
        ("endless", "The step `c` failed: endpoints call each other more than 8 levels deep"),
        ("rejected", "Not you."),
    ] {
        assert_eq!(call(&endpoints, id, json!({ "q": "x" })).await, expected, "{id}");
    }
}

/// The error of a failing step says where it stands in the config, also in an endpoint that another
/// one calls. Callers do not read that.
#[tokio::test]
async fn failing_step_has_its_position_in_the_config() {
    let endpoint = |id: &str, at: &str, routine: Value| Endpoint {
        id: id.to_owned(),
        routine: serde_json::from_value(routine).unwrap(),
        at: at.to_owned(),
        step_positions: HashMap::from([("s".to_owned(), format!("{at}, s"))]),
        ..Endpoint::default()
    };
    let fails = json!({ "id": "s", "type": "SqlQuery", "connectionId": "none", "properties": { "query": "select 1" } });
    let calls = json!({ "id": "s", "type": "CallEndpoint", "properties": { "endpointId": "inner" } });
    let unknown = json!({ "id": "s", "type": "CallEndpoint", "properties": { "endpointId": "nowhere" } });
    let all = vec![
        endpoint("inner", "a:1", json!([{ ":if": true, ":then": [fails] }])),
        endpoint("outer", "a:2", json!([calls])),
        endpoint("lost", "a:3", json!([unknown])),
        endpoint("loop", "a:4", json!([{ ":for": "x", ":in": 1, ":do": [] }])),
        endpoint("thrown", "a:5", json!([{ ":throw": "no" }])),
    ];
    let endpoints = Endpoints::new(all, HashMap::new(), Duration::from_secs(20)).unwrap();
    let check = async |id: &str, expected: &str| {
        let error = endpoints.call(id, json!({}), &context()).await.unwrap_err();
        assert_eq!(error.position(), expected, "{error}");
        assert!(!error.to_string().contains("a:"), "{error}");
    };
    check("inner", "a:1, s").await;
    check("outer", "a:1, s").await;
    check("lost", "a:3, s").await;
    check("loop", "a:4").await;
    check("thrown", "").await;
}

#[tokio::test]
async fn queries_and_read_only_connections_cannot_write() {
    let delete = |kind| answer_of(kind, "delete from articles returning id", json!({}));
    let count = answer_of("SqlQuery", "select count(*) as n from articles", json!({}));
    let unlock = answer_of("SqlQuery", "pragma query_only = 0", json!({}));
    let routines =
        [("execute", delete("SqlExecute")), ("query", delete("SqlQuery")), ("count", count), ("unlock", unlock)];
    for read_only in [true, false] {
        let endpoints = endpoints(read_only, Duration::from_secs(20), &routines).await;
        let q = || json!({ "q": "" });
        call(&endpoints, "unlock", q()).await;
        let refused = "The step `s` failed: attempt to write a readonly database";
        assert_eq!(call(&endpoints, "query", q()).await, refused);
        assert_eq!(call(&endpoints, "count", q()).await, r#"[{"n":2}]"#);
        let executed = call(&endpoints, "execute", q()).await;
        let expected = if read_only {
            "The step `s` failed: the connection is read-only"
        } else {
            r#"{"rowsAffected":2,"rows":[{"id":1},{"id":2}]}"#
        };
        assert_eq!(executed, expected);
    }
}

/// The database is free again at once, although it has one connection and the statement would never
/// have ended.
#[test]
fn invalid_endpoints_are_rejected_at_startup() {
    let check = |schema: Value, routine: Value, expected: &str| {
        let endpoint = Endpoint {
            id: "e".to_owned(),
            description: None,
            payload_schema: Some(schema),
            routine: serde_json::from_value(routine).unwrap(),
            ..Endpoint::default()
        };
        let refused = Endpoints::new(vec![endpoint], HashMap::new(), Duration::from_secs(1)).err();
        assert_eq!(refused.as_deref(), Some(expected));
    };
    let two = answer_of("SqlExecute", "delete from a; delete from b", json!({}));
    let one_each =
        "the routine of `e`: step 1: a request can run only one statement; put the second one into its own step";
    check(json!({}), two, one_each);
    check(
        json!({ "type": 7 }),
        json!([]),
        "the payload schema of `e`: 7 is not valid under any of the schemas listed in the 'anyOf' keyword",
    );
}

#[tokio::test]
async fn secrets_are_redacted_in_results_and_unavailable_elsewhere() {
    let query = |parameter: Value| json!([{ "id": "a", "type": "SqlQuery", "connectionId": "kb", "properties": { "query": "select :k || '!' as k, length(:k) as n", "parameters": { "k": parameter } } }, { ":return": { "_step": "a" } }]);
    let secret = || json!({ "_secret": "KEY" });
    let routines = [
        ("asks", query(secret())),
        ("knows", query(json!({ "_secret": "OTHER" }))),
        ("tells", json!([{ ":return": secret() }])),
        ("keeps", json!([{ ":set_state": { "k": secret() } }, { ":return": { "_state": "k" } }])),
    ];
    let endpoints = endpoints(false, Duration::from_secs(20), &routines).await;
    let endpoints = endpoints.with_secrets([("KEY".to_owned(), "s3cret".into())].into_iter().collect());
    let check = async |id: &str, expected: &str| assert_eq!(call(&endpoints, id, json!({ "q": "x" })).await, expected);
    check("asks", r#"[{"k":"[secret]!","n":6}]"#).await;
    check("knows", "The step `a` failed: /k/_secret: the environment variable `OTHER` is not set").await;
    let nowhere = "secrets are available on the server only, in connections and in requests of routines";
    check("tells", &format!("The step `:return` failed: /_secret: {nowhere}")).await;
    check("keeps", &format!("The step `:set_state` failed: /_secret: {nowhere}")).await;
}
