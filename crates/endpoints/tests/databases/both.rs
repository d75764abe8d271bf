//! Behaviour that is the same on both databases.

use crate::{INIT, endpoints, run, server};
use endpoints::{CallContext, EndpointError, SqlConnection, SqlLimits, SqlSettings};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A statement that never ends.
const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i from n) select count(*) as n from n";

async fn sqlite(read_only: bool, init: Option<&str>) -> SqlConnection {
    let settings = SqlSettings { url: "sqlite::memory:".into(), read_only, init: init.map(str::to_owned) };
    SqlConnection::open(&settings).await.unwrap()
}

/// Returns a new database of each kind that is available.
async fn databases(read_only: bool, init: Option<&str>) -> Vec<SqlConnection> {
    let mut databases = vec![sqlite(read_only, init).await];
    databases.extend(server::open(read_only, init).await);
    databases
}

#[tokio::test]
async fn parameters_are_bound_in_statements() {
    for db in databases(false, Some("create table a (id int primary key, name text, price double precision); insert into a values (1, 'one', 1.5), (2, 'two', null)")).await {
        let check = async |kind: &str, query: &str, payload: Value, expected: &str| {
            assert_eq!(run(&db, kind, query, payload).await, expected, "{query}");
        };
        let read = async |query: &str, payload: Value, expected: &str| check("SqlQuery", query, payload, expected).await;
        let write = async |query: &str, payload: Value, expected: &str| check("SqlExecute", query, payload, expected).await;

        let one = r#"[{"id":1,"name":"one","price":1.5}]"#;
        read("select * from a where id = :id", json!({ "id": 1 }), one).await;
        read("select * from a where id = :id", json!({ "id": 1.0 }), one).await;
        read("select * from a where id = :id and (:id = 1 or name = :n);", json!({ "id": 1, "n": "x" }), one).await;
        read("select id from a where name = :n or price > :p", json!({ "n": "two", "p": 9.5 }), r#"[{"id":2}]"#).await;
        read("select id from a where cast(:n as text) is null order by id limit :l", json!({ "n": null, "l": 1 }), r#"[{"id":1}]"#).await;
        read("select ':x' as \":y\" -- :z\n /* :w */", json!({}), r#"[{":y":":x"}]"#).await;
        read("select price from a where id = 2", json!({}), r#"[{"price":null}]"#).await;
        read("select id from a where id = 3", json!({}), "[]").await;
        read("select :n as n", json!({}), "failed: the parameter `n` is missing").await;
        // The caller's values are bound, whatever they contain.
        read("select id from a where name = :n", json!({ "n": "' or 1=1; drop table a; --" }), "[]").await;

        write("insert into a values (:id, :n, :p)", json!({ "id": 3, "n": "three", "p": null }), r#"{"rowsAffected":1}"#).await;
        write("update a set name = :n", json!({ "n": "x" }), r#"{"rowsAffected":3}"#).await;
        write("delete from a where id = :id", json!({ "id": 7 }), r#"{"rowsAffected":0}"#).await;
        let returned = r#"{"rowsAffected":1,"rows":[{"id":4,"name":"{\"a\":[1]}"}]}"#;
        write("insert into a (id, name) values (4, :n) returning id, name", json!({ "n": { "a": [1] } }), returned).await;
        read("select count(*) as n from a", json!({}), r#"[{"n":4}]"#).await;
        let refused = run(&db, "SqlExecute", "delete from a; delete from b", json!({})).await;
        assert!(refused.contains("a request can run only one statement"), "{refused}");
    }
}

#[tokio::test]
async fn queries_cannot_write() {
    for db in databases(false, Some(INIT)).await {
        let refused = run(&db, "SqlQuery", "insert into notes values ('second') returning text", json!({})).await;
        assert!(refused.starts_with("failed: ") && refused.contains("read"), "{refused}");
        assert_eq!(run(&db, "SqlExecute", "update notes set text = 'x'", json!({})).await, r#"{"rowsAffected":1}"#);
        // Also not after a statement that was allowed to write.
        assert!(run(&db, "SqlQuery", "delete from notes returning text", json!({})).await.starts_with("failed: "));
        assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"x"}]"#);
    }
    for db in databases(true, Some(INIT)).await {
        let refused = run(&db, "SqlExecute", "delete from notes", json!({})).await;
        assert_eq!(refused, "failed: the connection is read-only");
        assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"first"}]"#);
    }
}

#[tokio::test]
async fn results_are_limited() {
    let limits = SqlLimits { rows: 3, bytes: 100, ..SqlLimits::default() };
    let rows =
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < :last) select i, :text as t from n";
    for db in databases(false, None).await {
        let db = db.with_limits(limits);
        let seen = run(&db, "SqlQuery", rows, json!({ "last": 4, "text": "" })).await;
        assert_eq!(seen, "failed: the result has more than 3 rows; add a `limit` to the statement");
        let seen = run(&db, "SqlQuery", rows, json!({ "last": 2, "text": "x".repeat(100) })).await;
        assert_eq!(seen, "failed: the result has more than 100 bytes; select less");
        let seen = run(&db, "SqlQuery", rows, json!({ "last": 1, "text": "" })).await;
        assert_eq!(seen, r#"[{"i":1,"t":""}]"#);
    }
}

#[tokio::test]
async fn statement_ends_when_cancelled_or_timed_out() {
    for db in databases(false, None).await {
        let quick = db.clone().with_limits(SqlLimits { timeout: Duration::from_millis(300), ..SqlLimits::default() });
        let seen = run(&quick, "SqlQuery", ENDLESS, json!({})).await;
        assert_eq!(seen, "failed: the statement did not finish within 0.3 s");

        let context = CallContext {
            agent: None,
            user_id: "ada".to_owned(),
            gate: Arc::new(|_: &str| Ok(())),
            models: contract::ModelUse::default(),
            idempotency_key: None,
            cancel: CancellationToken::new(),
            reports: contract::CallReports::default(),
        };
        let endless = endpoints(&db, "SqlQuery", ENDLESS, Duration::from_secs(60)).unwrap();
        let stop = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            context.cancel.cancel();
        };
        let (ended, ()) = tokio::join!(endless.call("e", json!({}), &context), stop);
        assert_eq!(ended, Err(EndpointError::Cancelled));
        // More calls than connections: each connection is free again.
        for _ in 0..12 {
            assert_eq!(run(&db, "SqlQuery", "select 1 as n", json!({})).await, r#"[{"n":1}]"#);
        }
    }
}

#[tokio::test]
async fn concurrent_writes_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("a.db").display()).into();
    let file = SqlSettings { url, read_only: false, init: Some(INIT.to_owned()) };
    let mut databases = databases(false, Some(INIT)).await;
    databases.push(SqlConnection::open(&file).await.unwrap());
    for db in databases {
        let writes = (0..40).map(|i| {
            let db = db.clone();
            async move { run(&db, "SqlExecute", "insert into notes values (:i)", json!({ "i": i })).await }
        });
        for written in futures::future::join_all(writes).await {
            assert_eq!(written, r#"{"rowsAffected":1}"#);
        }
        assert_eq!(run(&db, "SqlQuery", "select count(*) as n from notes", json!({})).await, r#"[{"n":41}]"#);
    }
}

/// Checks that a text is returned unchanged.
async fn check_returned(db: &SqlConnection, text: &str) {
    let seen = run(db, "SqlQuery", "select :a as a", json!({ "a": text })).await;
    assert_eq!(seen, json!([{ "a": text }]).to_string());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn bound_texts_are_returned_unchanged(texts in prop::collection::vec(".*", 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lite = sqlite(false, None).await;
            let postgres = match server::database_url("postgres", server::PASSWORD) {
                Some(url) => Some(SqlConnection::open(&SqlSettings { url: url.into(), read_only: true, init: None }).await.unwrap()),
                None => None,
            };
            for text in texts {
                check_returned(&lite, &text).await;
                if let Some(db) = &postgres {
                    check_returned(db, &text.replace('\0', "")).await;
                }
            }
        });
    }
}
