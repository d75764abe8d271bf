//! The audit log: a single chain for concurrent writers, and detection of every change.

use crate::support::{begin, connect_outside, end, execute, on_each_database, submission, url_in};
use insta::assert_snapshot;
use serde_json::json;
use store::{
    AuditEntry, AuditHead, AuditOutcome, AuditReport, BeginRun, FinishRun, Gate, GateDecision, GateVerdict, Store,
    StoreError, ToolOutcome,
};
use tempfile::TempDir;

fn entry(call: &str) -> AuditEntry {
    let asked = GateDecision { gate: Gate::Approval, decision: GateVerdict::Asked, by: None, reason: None };
    let yes = GateDecision { decision: GateVerdict::Approved, by: Some("ada".to_owned()), ..asked.clone() };
    AuditEntry {
        at: 1000,
        user_id: "ada".to_owned(),
        agent_id: "helper".to_owned(),
        conversation_id: "c".to_owned(),
        message_id: "m".to_owned(),
        run_id: "r".to_owned(),
        call_id: call.to_owned(),
        tool: "pay".to_owned(),
        arguments: json!({ "sum": 1 }),
        gates: vec![asked, yes],
        outcome: AuditOutcome::Ok,
        duration_ms: Some(7),
    }
}

/// Returns the numbers and calls of the log, in order.
async fn calls(store: &Store) -> String {
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    rows.iter().map(|row| format!("{}={}", row.number, row.call_id)).collect::<Vec<_>>().join(" ")
}

async fn verified(store: &Store) -> AuditReport {
    store.verify_audit(None).await.unwrap().unwrap()
}

#[tokio::test]
async fn row_has_all_fields_of_its_entry() {
    on_each_database(async |store| {
        assert_eq!(verified(store).await, AuditReport { rows: 0, head: AuditHead::default() });
        store.append_audit(vec![entry("a")]).await.unwrap();
        let row = store.audit_rows(1, 1000).await.unwrap().remove(0);
        assert_eq!((row.number, row.at, row.duration_ms), (1, 1000, Some(7)));
        let ids = [row.user_id, row.agent_id, row.conversation_id, row.message_id, row.run_id, row.call_id, row.tool];
        assert_eq!(ids.join(" "), "ada helper c m r a pay");
        assert_eq!((row.arguments.as_str(), row.outcome.as_str()), (r#"{"sum":1}"#, "ok"));
        let gates = r#"[{"gate":"approval","decision":"asked"},{"gate":"approval","decision":"approved","by":"ada"}]"#;
        assert_eq!(row.gates, gates);
        assert_eq!(row.previous, "0".repeat(64));
        // The hashed bytes must never change, or the hashes of existing logs would no longer match.
        assert_eq!(row.hash, "2b551688c8ab1f6f667f194276ed3704e3af721c41f19d3d5cc45f164f8e8a8b");
        assert_eq!(store.audit_rows(2, 0).await.unwrap(), []);
        assert_eq!(store.audit_rows(1, 1001).await.unwrap(), []);
    })
    .await;
}

/// A hundred concurrent writers, some with several rows and some that report a call again: no gap,
/// no fork, no duplicate row.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_appends_form_one_chain() {
    on_each_database(async |store| {
        let tasks = (0..100).map(|number| {
            let store = store.clone();
            let rows = vec![entry(&format!("a{number}")), entry(&format!("b{}", number / 2))];
            tokio::spawn(async move { store.append_audit(rows).await })
        });
        for done in futures::future::join_all(tasks).await {
            done.unwrap().unwrap();
        }
        let report = verified(store).await;
        assert_eq!((report.rows, report.head.number), (150, 150));
        assert_eq!(store.verify_audit(Some(&report.head)).await.unwrap(), Ok(report));
    })
    .await;
}

/// The chain continues at the stored head: after a failed write, in another process, after a
/// restart.
#[tokio::test]
async fn chain_continues_after_failures_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let url = url_in(&folder);
    let (store, other) = (Store::open(&url).await.unwrap(), Store::open(&url).await.unwrap());
    store.append_audit(vec![entry("a")]).await.unwrap();
    let epoch = begin(&store, "c", "m", None, 1).await;
    let refused = FinishRun { epoch: epoch + 1, audit: vec![entry("never")], ..end("m", epoch, 2) };
    let (refused, beside) = tokio::join!(store.finish_run(refused), store.append_audit(vec![entry("b")]));
    assert_eq!((refused, beside), (Err(StoreError::Fenced), Ok(())));
    other.append_audit(vec![entry("c")]).await.unwrap();
    store.append_audit(vec![entry("d")]).await.unwrap();
    store.close().await;
    let store = Store::open(&url).await.unwrap();
    store.append_audit(vec![entry("a"), entry("e")]).await.unwrap();
    assert_eq!(calls(&store).await, "1=a 2=b 3=c 4=d 5=e");
    assert_eq!(verified(&store).await.rows, 5);
}

/// Rows that belong to another write are stored with it or not at all; they outlive their
/// conversation.
#[tokio::test]
async fn rows_are_stored_with_their_change_and_outlive_the_conversation() {
    on_each_database(async |store| {
        let begin = BeginRun { audit: vec![entry("begun")], ..submission("c", "m", None, 1) };
        store.begin_run("ada", begin.clone()).await.unwrap();
        let again = BeginRun { audit: vec![entry("again")], ..begin };
        store.begin_run("ada", again).await.unwrap();
        store.tool_started("ada", "r-m", "call", "pay", &json!({}), 2).await.unwrap();
        store.tool_finished("ada", "r-m", "call", ToolOutcome::Ok, 3, Some(entry("ran"))).await.unwrap();
        let finish = FinishRun { audit: vec![entry("ended")], ..end("m", 1, 4) };
        store.finish_run(finish.clone()).await.unwrap();
        store.finish_run(finish).await.unwrap();
        assert_eq!(store.last_run("ada", "c").await.unwrap().as_deref(), Some("r-m"));
        assert_eq!(store.last_run("bob", "c").await.unwrap(), None);
        let message = wire::UiMessage::user("m", "decided");
        store.update_message("ada", "c", message, vec![entry("kept")]).await.unwrap();
        assert!(!store.delete_conversation("bob", "c", vec![entry("bobs")]).await.unwrap());
        assert!(store.delete_conversation("ada", "c", vec![entry("deleted")]).await.unwrap());
        // The tool has run, although its conversation was deleted.
        let late = store.tool_finished("ada", "r-m", "late", ToolOutcome::Ok, 5, Some(entry("late"))).await;
        assert_eq!(late, Err(StoreError::NotFound));
        assert_eq!(calls(store).await, "1=begun 2=ran 3=ended 4=kept 5=deleted 6=late");
        assert_eq!(verified(store).await.rows, 6);
    })
    .await;
}

/// Returns a log of nine rows in a file.
async fn nine() -> (Store, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    store.append_audit((1..=9).map(|number| entry(&number.to_string())).collect()).await.unwrap();
    (store, folder)
}

#[tokio::test]
async fn tampering_is_detected() {
    let check = async |sql: &str, expected: &str| {
        let (store, folder) = nine().await;
        execute(&mut connect_outside(&folder).await, sql).await;
        let found = store.verify_audit(None).await.unwrap().map_err(|fault| fault.to_string());
        assert_eq!(found.err().as_deref().unwrap_or("nothing"), expected, "{sql}");
    };
    let changed = "row 4 was changed: its hash is not that of its content";
    for (column, value) in [
        ("at", "at + 1"),
        ("user_id", "'eve'"),
        ("agent_id", "''"),
        ("conversation_id", "'d'"),
        ("message_id", "'n'"),
        ("run_id", "'r2'"),
        ("call_id", "'x'"),
        ("tool", "'look'"),
        ("arguments", "'{\"sum\":2}'"),
        ("gates", "'[]'"),
        ("outcome", "'denied'"),
        ("duration_ms", "NULL"),
        ("previous", "hash"),
        ("hash", "previous"),
        // The same bytes with another field boundary.
        ("tool = 'pa', arguments", "'y{\"sum\":1}'"),
    ] {
        check(&format!("UPDATE audit SET {column} = {value} WHERE no = 4"), changed).await;
    }
    let missing = "row 4 is missing";
    check("DELETE FROM audit WHERE no = 4", missing).await;
    check("DELETE FROM audit WHERE no = 1", "row 1 is missing").await;
    check("DELETE FROM audit WHERE no < 9", "row 1 is missing").await;
    let close_the_gap = "DELETE FROM audit WHERE no = 4; UPDATE audit SET no = no - 1 WHERE no > 4";
    check(close_the_gap, changed).await;
    let swap = "UPDATE audit SET no = 99 WHERE no = 4; UPDATE audit SET no = 4 WHERE no = 6;
        UPDATE audit SET no = 6 WHERE no = 99";
    check(swap, changed).await;
    let copy = |number: i64| {
        format!(
            "INSERT INTO audit SELECT {number}, at, user_id, agent_id, conversation_id, 'other', run_id, call_id, tool,
             arguments, gates, outcome, duration_ms, previous, hash FROM audit WHERE no = 9"
        )
    };
    check(&copy(10), "row 10 was changed: its hash is not that of its content").await;
    check(&copy(0), "row 0 was inserted: the first row is number 1").await;
    check(&copy(i64::MIN), &format!("row {} was inserted: the first row is number 1", i64::MIN)).await;
    check(&copy(i64::MAX), "row 10 is missing").await;
    let between = format!(
        "{}; UPDATE audit SET no = no + 100 WHERE no > 3; UPDATE audit SET no = 4 WHERE no = 150;
         UPDATE audit SET no = no - 99 WHERE no > 100",
        copy(50)
    );
    check(&between, changed).await;
}

/// A row that was changed together with its hash no longer matches the next row.
#[tokio::test]
async fn changed_row_with_a_new_hash_breaks_the_next_row() {
    let (store, folder) = nine().await;
    let mut row = store.audit_rows(4, 0).await.unwrap().remove(0);
    row.user_id = "eve".to_owned();
    let sql = format!("UPDATE audit SET user_id = 'eve', hash = '{}' WHERE no = 4", row.computed_hash());
    execute(&mut connect_outside(&folder).await, &sql).await;
    let found = store.verify_audit(None).await.unwrap().unwrap_err().to_string();
    assert_eq!(found, "row 5 does not follow the row before it: one of the two was replaced");
}

/// Only with a noted head can rows that were cut off at the end be detected.
#[tokio::test]
async fn noted_head_detects_truncation() {
    let (store, folder) = nine().await;
    let head = verified(&store).await.head;
    store.append_audit(vec![entry("10")]).await.unwrap();
    let check = async |expected: &str| {
        let found = store.verify_audit(Some(&head)).await.unwrap();
        assert_eq!(found.map_or_else(|fault| fault.to_string(), |report| report.rows.to_string()), expected);
    };
    check("10").await;
    let cut = "DELETE FROM audit WHERE no > 7";
    execute(&mut connect_outside(&folder).await, cut).await;
    assert_eq!(verified(&store).await.rows, 7);
    check("the log ends with row 7, and row 9 was noted: rows were cut off").await;
    store.append_audit((8..=12).map(|number| entry(&format!("forged {number}"))).collect()).await.unwrap();
    assert_eq!(verified(&store).await.rows, 12);
    check("row 9 is not the one that was noted: the log was written anew").await;
    execute(&mut connect_outside(&folder).await, "DELETE FROM audit").await;
    check("the log ends with row 0, and row 9 was noted: rows were cut off").await;
}

#[test]
fn heads_are_formatted_and_parsed() {
    let hash = "0a".repeat(32);
    let check = |text: &str, expected: Result<i64, &str>| {
        assert_eq!(text.parse::<AuditHead>().map(|head| head.number), expected, "{text}");
    };
    check(&format!("12:{hash}"), Ok(12));
    check(&format!("12:{}", hash.to_uppercase()), Ok(12));
    check("12", Err("a head is NUMBER:HASH"));
    check(&format!("-1:{hash}"), Err("the head's number is not a number"));
    check(&format!("x:{hash}"), Err("the head's number is not a number"));
    check("12:0a", Err("the head's hash does not have 64 hexadecimal digits"));
    check(&format!("12:{}", "é".repeat(32)), Err("the head's hash does not have 64 hexadecimal digits"));
    let head: AuditHead = format!("12:{hash}").parse().unwrap();
    assert_eq!(head.to_string(), format!("12:{hash}"));
}

/// Opening a database for reading creates no file and migrates no schema.
#[tokio::test]
async fn opening_for_reading_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let url = url_in(&folder);
    let refused = async || {
        let error = Store::open_existing(&url).await.err().unwrap().to_string();
        error.replace(&folder.path().display().to_string(), "ROOT")
    };
    assert_snapshot!(refused().await, @"cannot open the database ROOT/data/chat.db: there is no such file");
    assert!(!folder.path().join("data").exists());
    Store::open(&url).await.unwrap().append_audit(vec![entry("a")]).await.unwrap();
    assert_eq!(verified(&Store::open_existing(&url).await.unwrap()).await.rows, 1);
    let older = "DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    execute(&mut connect_outside(&folder).await, older).await;
    // The schema numbers in the message change with every migration.
    let numbers = |text: String| text.replace(|c: char| c.is_ascii_digit(), "");
    assert_snapshot!(numbers(refused().await), @"cannot open the database ROOT/data/chat.db: its schema is , and this version's is ; use the version that serves it");
}
