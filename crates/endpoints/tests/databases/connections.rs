//! Connections to PostgreSQL: their number, cancelled statements, an unreachable database.

use crate::{INIT, endpoints, run, server};
use endpoints::{CallContext, SqlConnection, SqlSettings};
use serde_json::json;
use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Returns the number of active statements that contain this mark.
async fn running(db: &SqlConnection, mark: &str) -> String {
    let query = "select count(*) as n from pg_stat_activity where state = 'active' and query like '%' || :mark || '%' and pid <> pg_backend_pid() and datname = current_database()";
    run(db, "SqlQuery", query, json!({ "mark": mark })).await
}

/// Waits until that many statements are active; a statement that is not cancelled would not end in
/// time.
async fn until_running(db: &SqlConnection, mark: &str, expected: u32) {
    let began = Instant::now();
    let expected = format!(r#"[{{"n":{expected}}}]"#);
    while running(db, mark).await != expected {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", running(db, mark).await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn cancelled_statements_are_ended_by_the_database() {
    let Some(db) = server::open(false, Some(INIT)).await else { return };
    let sleep = "with gone as (insert into notes values ('never') returning 1) select pg_sleep(600) from gone";
    let sleeping = endpoints(&db, "SqlExecute", sleep, Duration::from_secs(600)).unwrap();
    let context = CallContext {
        agent: None,
        user_id: "ada".to_owned(),
        gate: std::sync::Arc::new(|_: &str| Ok(())),
        models: contract::ModelUse::default(),
        idempotency_key: None,
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
    };
    let watch = async {
        until_running(&db, "sleep(600)", 3).await;
        context.cancel.cancel();
    };
    let call = || sleeping.call("e", json!({}), &context);
    tokio::join!(call(), call(), call(), watch).3;
    until_running(&db, "sleep(600)", 0).await;
    assert_eq!(run(&db, "SqlQuery", "select * from notes", json!({})).await, r#"[{"text":"first"}]"#);
}

/// The password is checked as PostgreSQL does it by default; the other tests use a cheaper method.
#[tokio::test]
async fn password_is_checked_with_scram() {
    let Some(url) = server::new_database().await else { return };
    const ROLE: &str = "DROP ROLE IF EXISTS scram_reader; SET password_encryption = 'scram-sha-256';
        CREATE ROLE scram_reader LOGIN PASSWORD 's3cret-of-the-tests'";
    test_postgres::execute(&url, ROLE).await;
    let own = url.replace("postgres://ada:", "postgres://scram_reader:");
    let db = SqlConnection::open(&SqlSettings { url: own.into(), read_only: true, init: None }).await.unwrap();
    assert_eq!(run(&db, "SqlQuery", "select current_user as name", json!({})).await, r#"[{"name":"scram_reader"}]"#);
}

/// No transaction stays open, wherever the statement is cut off, including in `BEGIN` and `COMMIT`.
/// Another pool watches, because the next statement of the same pool would close it.
#[tokio::test]
async fn cut_off_statement_leaves_no_open_transaction() {
    let Some(url) = server::new_database().await else { return };
    let settings = SqlSettings { url: url.into(), read_only: false, init: Some(INIT.to_owned()) };
    let (db, watcher) = (SqlConnection::open(&settings).await.unwrap(), SqlConnection::open(&settings).await.unwrap());
    let open =
        "select count(*) as n from pg_stat_activity where state like 'idle in%' and datname = current_database()";
    let (mut cuts, mut round) = (0, 0);
    // How often a statement waits depends on the load of the machine; one that completes at once is
    // not cut off.
    while cuts < 20 {
        round += 1;
        assert!(round < 2_000, "it was cut off {cuts} times only");
        let cut = 1 + round % 6;
        // Makes sure that a connection exists: the authentication of a new one has a thousand waits
        // of its own.
        run(&db, "SqlExecute", "delete from notes", json!({})).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut insert = Box::pin(run(&db, "SqlExecute", "insert into notes values (:n)", json!({ "n": round })));
        let mut waits = 0;
        let cut_off = poll_fn(|context| match insert.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(0),
            Poll::Pending => {
                waits += 1;
                if waits == cut { Poll::Ready(1) } else { Poll::Pending }
            }
        });
        cuts += cut_off.await;
        drop(insert);
        let began = Instant::now();
        while run(&watcher, "SqlQuery", open, json!({})).await != r#"[{"n":0}]"# {
            assert!(began.elapsed() < Duration::from_secs(60), "a transaction stayed open, cut off at {cut}");
        }
    }
}

#[tokio::test]
async fn number_of_connections_is_limited() {
    let Some(db) = server::open(false, None).await else { return };
    let calls = (0..24).map(|_| run(&db, "SqlQuery", "select 1 as n from pg_sleep(0.1)", json!({})));
    let answers = futures::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| answer == r#"[{"n":1}]"#), "{answers:?}");
    let seen = run(
        &db,
        "SqlQuery",
        "select count(*) as n from pg_stat_activity where datname = current_database()",
        json!({}),
    )
    .await;
    assert_eq!(seen, r#"[{"n":8}]"#);
    // Calls that wait for longer get an error.
    let calls = (0..9).map(|_| run(&db, "SqlQuery", "select 1 as n from pg_sleep(7)", json!({})));
    let answers = futures::future::join_all(calls).await;
    let (busy, answered): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.starts_with("failed: "));
    assert!(!busy.is_empty() && !answered.is_empty(), "{answers:?}");
    assert!(busy.iter().all(|answer| *answer == "failed: the database is busy; try again"), "{answers:?}");
    assert!(answered.iter().all(|answer| *answer == r#"[{"n":1}]"#), "{answers:?}");
}

#[tokio::test]
async fn unreachable_database_is_reported_without_its_url() {
    let unreachable = "failed: the database cannot be reached; try again later";
    let open = async |url: String| {
        let settings = SqlSettings { url: url.into(), read_only: false, init: Some(INIT.to_owned()) };
        assert!(!format!("{settings:?}").contains("s3cret"));
        SqlConnection::open(&settings).await
    };
    // The listener is dropped, so connections to its port are refused.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let down = open(format!("postgres://ada:s3cret@127.0.0.1:{port}/shop")).await.unwrap();
    assert_eq!(run(&down, "SqlQuery", "select 1", json!({})).await, unreachable);
    if let Some(url) = server::database_url("postgres", "s3cret-but-wrong") {
        assert_eq!(run(&open(url).await.unwrap(), "SqlQuery", "select 1", json!({})).await, unreachable);
    }
    let refused = open("postgres://ada:s3cret@host/shop?sslmod=s3cret".to_owned()).await.err();
    assert_eq!(refused.as_deref(), Some("this address has an unknown parameter"));
    let refused = open("postgres://ada:%FFs3cret@host/shop".to_owned()).await.err();
    assert_eq!(refused.as_deref(), Some("the address of the database cannot be read"));
}
