//! SQLite files: new, existing, read-only, broken.

use crate::{INIT, run};
use endpoints::{SqlConnection, SqlSettings};
use serde_json::json;
use std::path::Path;

fn settings(path: &Path, read_only: bool, init: Option<&str>) -> SqlSettings {
    SqlSettings { url: format!("sqlite://{}", path.display()).into(), read_only, init: init.map(str::to_owned) }
}

#[tokio::test]
async fn new_database_is_initialized_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let db = SqlConnection::open(&settings(&path, false, Some(INIT))).await.unwrap();
    run(&db, "SqlExecute", "insert into notes values ('second')", json!({})).await;
    drop(db);
    for read_only in [false, true] {
        let again = SqlConnection::open(&settings(&path, read_only, Some(INIT))).await.unwrap();
        let count = run(&again, "SqlQuery", "select count(*) as n from notes", json!({})).await;
        assert_eq!(count, r#"[{"n":2}]"#);
    }
}

#[tokio::test]
async fn new_database_can_be_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let db = SqlConnection::open(&settings(&folder.path().join("a.db"), true, Some(INIT))).await.unwrap();
    assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"first"}]"#);
    let refused = run(&db, "SqlExecute", "delete from notes", json!({})).await;
    assert_eq!(refused, "failed: the connection is read-only");
    // SQLite's own message contains the path.
    let outside = run(&db, "SqlQuery", "attach '/no/such/place' as other", json!({})).await;
    assert_eq!(outside, "failed: the database failed");
}

#[tokio::test]
async fn failed_initialization_is_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let refused = SqlConnection::open(&settings(
        &path,
        false,
        Some("CREATE TABLE notes (text TEXT); INSERT INTO note VALUES (1)"),
    ))
    .await;
    assert_eq!(refused.err().as_deref(), Some("no such table: note"));
    let db = SqlConnection::open(&settings(&path, false, Some(INIT))).await.unwrap();
    assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"first"}]"#);
}

#[tokio::test]
async fn wrong_path_creates_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nots.db");
    let refused = SqlConnection::open(&settings(&path, false, None)).await;
    assert_eq!(refused.err().as_deref(), Some("unable to open database file"));
    assert!(!path.exists());
}
