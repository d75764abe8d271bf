//! Opening databases: new, known, read-only, broken.

use endpoints::{CallContext, Connection, Endpoint, Endpoints, Sql, SqlSettings};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const INIT: &str = "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('first')";

fn settings(path: &Path, read_only: bool, init: Option<&str>) -> SqlSettings {
    SqlSettings { url: format!("sqlite://{}", path.display()), read_only, init: init.map(str::to_owned) }
}

/// Runs one statement.
async fn run(db: &Sql, kind: &str, query: &str, payload: Value) -> String {
    let routine = json!([
        { "id": "s", "type": kind, "connectionId": "db", "properties": { "query": query, "parameters": { "_payload": true } } },
        { ":return": { "_step": "s" } },
    ]);
    let endpoint = Endpoint {
        id: "e".to_owned(),
        description: None,
        payload_schema: None,
        routine: serde_json::from_value(routine).unwrap(),
    };
    let connections = HashMap::from([("db".to_owned(), Connection::Sql(db.clone()))]);
    let endpoints = Endpoints::new(vec![endpoint], connections, Duration::from_secs(20)).unwrap();
    let context = CallContext { user_id: "ada".to_owned(), cancel: CancellationToken::new() };
    let answer = endpoints.call("e", payload, &context).await;
    answer.map_or_else(|error| error.to_string(), |value| value.to_string())
}

#[tokio::test]
async fn a_new_database_is_filled_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let db = Sql::open(&settings(&path, false, Some(INIT))).await.unwrap();
    run(&db, "SqlExecute", "insert into notes values ('second')", json!({})).await;
    drop(db);
    for read_only in [false, true] {
        let again = Sql::open(&settings(&path, read_only, Some(INIT))).await.unwrap();
        let count = run(&again, "SqlQuery", "select count(*) as n from notes", json!({})).await;
        assert_eq!(count, r#"[{"n":2}]"#);
    }
}

#[tokio::test]
async fn a_new_database_may_be_for_reading_only() {
    let folder = tempfile::tempdir().unwrap();
    let db = Sql::open(&settings(&folder.path().join("a.db"), true, Some(INIT))).await.unwrap();
    assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"first"}]"#);
    let refused = run(&db, "SqlExecute", "delete from notes", json!({})).await;
    assert_eq!(refused, "The step `s` failed: the connection is read-only");
    // SQLite's own text has the path.
    let outside = run(&db, "SqlQuery", "attach '/no/such/place' as other", json!({})).await;
    assert_eq!(outside, "The step `s` failed: the database failed");
}

#[tokio::test]
async fn a_failure_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let refused =
        Sql::open(&settings(&path, false, Some("CREATE TABLE notes (text TEXT); INSERT INTO note VALUES (1)"))).await;
    assert_eq!(refused.err().as_deref(), Some("no such table: note"));
    let db = Sql::open(&settings(&path, false, Some(INIT))).await.unwrap();
    assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"first"}]"#);
}

#[tokio::test]
async fn a_path_with_a_slip_makes_no_empty_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nots.db");
    let refused = Sql::open(&settings(&path, false, None)).await;
    assert_eq!(refused.err().as_deref(), Some("unable to open database file"));
    assert!(!path.exists());
}

#[tokio::test]
async fn writers_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    for url in [format!("sqlite://{}", path.display()), "sqlite::memory:".to_owned()] {
        let db = Sql::open(&SqlSettings { url, read_only: false, init: Some(INIT.to_owned()) }).await.unwrap();
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn what_is_bound_comes_back_as_it_was(texts in prop::collection::vec(".*", 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let settings = SqlSettings { url: "sqlite::memory:".to_owned(), read_only: false, init: None };
            let db = Sql::open(&settings).await.unwrap();
            for text in texts {
                let seen = run(&db, "SqlQuery", "select :a as a", json!({ "a": text })).await;
                assert_eq!(seen, json!([{ "a": text }]).to_string());
            }
        });
    }
}
