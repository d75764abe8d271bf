//! Faults of a database server: lost connections, other writers that block or freeze, concurrent
//! starts.

use crate::support::{OutsideConnection, begin, branch, submission, turn};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{BeginRunOutcome, Store, StoreError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// Closes the connections of a store, as a restart of the server does.
const TERMINATE: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Neither readers nor writers see an error.
#[tokio::test]
async fn lost_connections_are_reopened() {
    let Some(url) = test_postgres::new_database().await else { return };
    let store = Store::open(&url).await.unwrap();
    let mut outsider = OutsideConnection::connect(&url).await;
    for round in 0..4 {
        turn(&store, &format!("c{round}"), &format!("m{round}"), None, 1).await;
        assert!(outsider.number(TERMINATE).await > 0);
        // The pool tests connections that were idle for a while; here none was idle for that long.
        let read = store.conversation("ada", "c0").await;
        assert!(matches!(read, Ok(Some(_)) | Err(StoreError::Unavailable(_))), "{read:?}");
    }
    turn(&store, "last", "last", None, 1).await;
    assert_eq!(store.open_runs().await.unwrap(), []);
}

/// If the connection is lost during a transaction, its writes fail and are not stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_write_is_reported_as_failed() {
    let Some(url) = test_postgres::new_database().await else { return };
    let store = Store::open(&url).await.unwrap();
    let (mut holder, mut outsider) = (OutsideConnection::connect(&url).await, OutsideConnection::connect(&url).await);
    holder.execute("BEGIN; LOCK TABLE conversations").await;
    let write = tokio::spawn({
        let store = store.clone();
        async move { store.begin_run("ada", submission("c", "m", None, 1)).await }
    });
    let waiting = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE wait_event = 'relation' AND datname = current_database()";
    while outsider.number(waiting).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let failed = write.await.unwrap();
    assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
    holder.execute("ROLLBACK").await;
    assert_eq!(store.conversation("ada", "c").await, Ok(None));
    assert_eq!(begin(&store, "c", "m", None, 1).await, 1);
}

/// A statement that fails aborts the transaction of a group of PostgreSQL, so that the other writes of the group run again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_write_of_a_group_loses_only_its_own_changes() {
    let Some(url) = test_postgres::new_database().await else { return };
    let store = Store::open(&url).await.unwrap();
    begin(&store, "c0", "m0", None, 1).await;
    let (mut holder, mut outsider) = (OutsideConnection::connect(&url).await, OutsideConnection::connect(&url).await);
    holder.execute("BEGIN; LOCK TABLE conversations").await;
    let write = |conversation: &'static str, key: &'static str| {
        let store = store.clone();
        tokio::spawn(async move { store.begin_run("ada", submission(conversation, key, None, 1)).await })
    };
    let first = write("c1", "m1");
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'relation' AND datname = current_database()";
    while outsider.number(waiting).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The run of `m0` has been stored before.
    let group = [("c2", "m2"), ("c3", "m0"), ("c4", "m4")];
    let writes = group.map(|(conversation, key)| write(conversation, key));
    while store.queued_writes() < group.len() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    holder.execute("ROLLBACK").await;
    assert_eq!(first.await.unwrap(), Ok(BeginRunOutcome::Started { epoch: 1 }));
    for ((conversation, key), write) in group.into_iter().zip(writes) {
        let is_new = key != "m0";
        let used = Err(StoreError::Invalid("the id is already in use"));
        let expected = if is_new { Ok(BeginRunOutcome::Started { epoch: 1 }) } else { used };
        assert_eq!(write.await.unwrap(), expected, "{conversation}");
        assert_eq!(store.conversation("ada", conversation).await.unwrap().is_some(), is_new, "{conversation}");
    }
}

/// If the reply to a commit is lost, the store finds out that the commit succeeded and reports
/// success.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_with_a_lost_reply_is_reported_as_committed() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let cut = Arc::new(AtomicBool::new(false));
    let (_, way) = url.split_once('@').unwrap();
    let (server, database) = way.split_once('/').unwrap();
    relay(folder.path(), &server.replace("%2F", "/"), cut.clone());
    let own = folder.path().to_str().unwrap().replace('/', "%2F");
    let relayed = format!("postgres://ada:{}@{own}/{database}", test_postgres::PASSWORD);
    let store = Store::open(&relayed).await.unwrap();
    cut.store(true, Ordering::Relaxed);
    assert_eq!(begin(&store, "c", "m", None, 1).await, 1);
    assert!(!cut.load(Ordering::Relaxed), "a reply was kept back");
    assert_eq!(branch(&Store::open(&url).await.unwrap(), "c").await, "m=text of m | a-m");
}

/// Relays a socket to the server's. Once `cut` is set, it forwards a commit and then closes the
/// connection instead of forwarding the reply.
fn relay(folder: &Path, server: &str, cut: Arc<AtomicBool>) {
    const SOCKET: &str = ".s.PGSQL.5432";
    let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
    let server = Path::new(server).join(SOCKET);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&server).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            let back = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
            let cut = cut.clone();
            tokio::spawn(async move {
                let mut bytes = [0; 16384];
                while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
                    let commits = bytes[..count].windows(6).any(|word| word == b"COMMIT");
                    let cuts = commits && cut.swap(false, Ordering::Relaxed);
                    if cuts {
                        back.abort();
                    }
                    if to_server.write_all(&bytes[..count]).await.is_err() || cuts {
                        // So that the server reads the commit before the connection ends.
                        tokio::time::sleep(Duration::from_millis(300)).await;
                        return;
                    }
                }
            });
        }
    });
}

/// If the connection is closed during a commit, the commit fails and is reported as failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_commit_is_reported_as_failed() {
    let Some(url) = test_postgres::new_database().await else { return };
    let store = Store::open(&url).await.unwrap();
    let mut outsider = OutsideConnection::connect(&url).await;
    outsider
        .execute(
            "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON folders DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION slowly();",
        )
        .await;
    let add = tokio::spawn({
        let store = store.clone();
        let folder = wire::organize::Folder::new("f", "folder");
        async move { store.add_folder("ada", folder, 1).await }
    });
    let committing = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE wait_event = 'PgSleep' AND datname = current_database()";
    while outsider.number(committing).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let failed = add.await.unwrap();
    let expected = StoreError::Unavailable("the connection was lost; nothing was written".to_owned());
    assert_eq!(failed, Err(expected));
    assert_eq!(store.folders("ada").await, Ok(Vec::new()));
}

/// Writers of two servers take turns: epochs, the audit log's head and limits on numbers of rows
/// hold across both.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_several_servers_are_serialized() {
    let Some(url) = test_postgres::new_database().await else { return };
    let stores = futures::future::join_all((0..3).map(|_| Store::open(&url))).await;
    let stores: Vec<_> = stores.into_iter().map(Result::unwrap).collect();
    // One submission, sent to all servers at once.
    let tries = (0..30).map(|number| stores[number % 3].begin_run("ada", submission("c", "m", None, 1)));
    let begun = futures::future::join_all(tries).await;
    let started = begun.iter().filter(|begun| matches!(begun, Ok(BeginRunOutcome::Started { epoch: 1 }))).count();
    let known =
        begun.iter().filter(|begun| matches!(begun, Ok(BeginRunOutcome::Duplicate { active: true, .. }))).count();
    assert_eq!((started, known), (1, 29), "{begun:?}");
    let folders = (0..150).map(|number| {
        let folder = wire::organize::Folder::new(format!("f{number}"), "folder");
        stores[number % 3].add_folder("ada", folder, 1)
    });
    let added = futures::future::join_all(folders).await;
    assert_eq!(added.iter().filter(|added| **added == Ok(true)).count(), 100);
    assert_eq!(branch(&stores[2], "c").await, "m=text of m | a-m");
}

/// A server that freezes within a transaction blocks the others for seconds, not for as long as it
/// is frozen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frozen_writer_loses_the_lock_after_a_timeout() {
    let Some(url) = test_postgres::new_database().await else { return };
    let store = Store::open(&url).await.unwrap();
    let mut frozen = OutsideConnection::connect(&url).await;
    let turn = "SELECT pg_advisory_xact_lock(hashtextextended('chatwright ' || current_schema(), 0))";
    frozen.execute(&format!("SET idle_in_transaction_session_timeout = '5s'; BEGIN; {turn}")).await;
    let begun = Instant::now();
    begin(&store, "c", "m", None, 1).await;
    let waited = begun.elapsed();
    // The frozen server never releases the lock itself.
    assert!(waited > Duration::from_secs(3), "{waited:?}");
}

/// Of several servers that start together one migrates, and all of them open the database. A newer
/// schema is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_opens_migrate_a_new_database_once() {
    let Some(url) = test_postgres::new_database().await else { return };
    let opened = futures::future::join_all((0..6).map(|_| Store::open(&url))).await;
    for (number, store) in opened.into_iter().map(Result::unwrap).enumerate() {
        turn(&store, &format!("c{number}"), &format!("m{number}"), None, 1).await;
        store.close().await;
    }
    let mut outsider = OutsideConnection::connect(&url).await;
    outsider.execute("INSERT INTO _sqlx_migrations VALUES (9001, 'later', now(), true, '\\x00', 0)").await;
    let error = Store::open(&url).await.err().unwrap().to_string();
    assert!(error.ends_with("a newer version of Chatwright wrote it (schema 9001); start that version"), "{error}");
    assert!(!error.contains(test_postgres::PASSWORD), "{error}");
}

/// A database that cannot be opened is refused with one line that does not contain the password.
#[tokio::test]
async fn error_of_a_failed_login_does_not_contain_the_password() {
    let Some(url) = test_postgres::database_url("postgres", "s3cret-but-wrong") else { return };
    let error = Store::open(&url).await.err().unwrap().to_string();
    assert!(error.starts_with("cannot open the database postgres at /"), "{error}");
    assert!(error.contains("password authentication failed") && !error.contains("s3cret"), "{error}");
}
