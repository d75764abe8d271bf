//! Faults of a database file: reopened, damaged, of a newer version, locked, not openable; and
//! callers that are dropped.

use crate::support::{
    batch, begin, branch, connect_outside, end, execute, journal, on_each_database, submission, turn, url_in,
};
use futures::FutureExt;
use std::time::{Duration, Instant};
use store::{BeginRunOutcome, Store, StoreError};

#[tokio::test]
async fn reopened_file_has_all_data() {
    let folder = tempfile::tempdir().unwrap();
    let url = url_in(&folder);
    for round in 1..=3 {
        let store = Store::open(&url).await.unwrap();
        let parent = (round > 1).then(|| format!("a-m{}", round - 1));
        assert_eq!(begin(&store, "c", &format!("m{round}"), parent.as_deref(), round).await, round.cast_unsigned());
        store.append_events(vec![batch(&format!("m{round}"), round.cast_unsigned(), 1, 2)]).await.unwrap();
        store.finish_run(end(&format!("m{round}"), round.cast_unsigned(), round)).await.unwrap();
        match round {
            // With and without an orderly shutdown.
            1 => store.close().await,
            _ => drop(store),
        }
        let left = folder.path().join("data/chat.db-wal").exists();
        assert!(round > 1 || !left, "a closed database is one file");
    }
    let store = Store::open(&url).await.unwrap();
    assert_eq!(branch(&store, "c").await.split(" | ").count(), 6);
    assert_eq!(journal(&store, "m1", 0, 10).await, "1-2");
    assert_eq!(store.open_runs().await.unwrap(), []);
}

#[tokio::test]
async fn closed_store_returns_closed() {
    on_each_database(async |store| {
        let other = store.clone();
        store.close().await;
        other.close().await;
        assert_eq!(other.conversation("ada", "c").await, Err(StoreError::Closed));
        assert_eq!(other.ping().await, Err(StoreError::Closed));
        assert_eq!(other.begin_run("ada", submission("c", "m", None, 1)).await, Err(StoreError::Closed));
    })
    .await;
}

/// Deletion must remove the rows, not only hide them: no table keeps a row of a deleted
/// conversation.
#[tokio::test]
async fn deleted_conversation_leaves_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    let epoch = begin(&store, "c", "m", None, 1).await;
    store.append_events(vec![batch("m", epoch, 1, 3), batch("m", epoch, 4, 4)]).await.unwrap();
    store.tool_started("ada", "r-m", "call", "tool", &serde_json::json!({}), 1).await.unwrap();
    let count = async || {
        let sql = "SELECT (SELECT count(*) FROM conversations) || ' ' || (SELECT count(*) FROM messages) || ' ' ||
            (SELECT count(*) FROM runs) || ' ' || (SELECT count(*) FROM run_events) || ' ' ||
            (SELECT count(*) FROM tool_calls)";
        sqlx::query_scalar::<_, String>(sql).fetch_one(&mut connect_outside(&folder).await).await.unwrap()
    };
    assert_eq!(count().await, "1 2 1 2 1");
    assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
    assert_eq!(count().await, "0 0 0 0 0");
}

/// Dropping a caller after its write was queued, at any moment, does not affect the write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_caller_does_not_cancel_its_write() {
    on_each_database(async |store| {
        for number in 0..100_u64 {
            let key = format!("m{number}");
            let mut begin = Box::pin(store.begin_run("ada", submission(&key, &key, None, 1)));
            // One poll queues the write.
            let _ = (&mut begin).now_or_never();
            if number % 2 == 1 {
                // Most likely during the transaction.
                let _ = tokio::time::timeout(Duration::from_micros(number * 10), &mut begin).await;
            }
            drop(begin);
            // Dropped reads leave nothing open either.
            let _ = store.conversation("ada", &key).now_or_never();
        }
        store.ping().await.unwrap();
        assert_eq!(store.open_runs().await.unwrap().len(), 100);
        let again = store.begin_run("ada", submission("m7", "m7", None, 2)).await.unwrap();
        assert!(matches!(again, BeginRunOutcome::Duplicate { active: true, .. }));
    })
    .await;
}

#[tokio::test]
async fn damaged_body_becomes_an_unreadable_part() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    turn(&store, "c", "m1", None, 1).await;
    turn(&store, "c", "m2", Some("a-m1"), 2).await;
    let mut outsider = connect_outside(&folder).await;
    execute(&mut outsider, "UPDATE messages SET body = substr(body, 1, 20) WHERE id = 'a-m1'").await;
    execute(&mut outsider, "UPDATE messages SET body = CAST(X'ff00fe' AS TEXT) WHERE id = 'm2'").await;
    let messages = store.branch("ada", "c").await.unwrap();
    let show: Vec<_> = messages.iter().map(|stored| serde_json::to_string(&stored.message).unwrap()).collect();
    insta::assert_snapshot!(show.join("\n"), @r#"
    {"id":"m1","role":"user","parts":[{"type":"text","text":"text of m1"}]}
    {"id":"a-m1","role":"assistant","parts":[{"type":"unreadable"}]}
    {"id":"m2","role":"user","parts":[{"type":"unreadable"}]}
    {"id":"a-m2","role":"assistant","parts":[{"type":"text","text":"done m2"}]}
    "#);
    assert_eq!(store.messages("ada", "c").await.unwrap(), messages);
    turn(&store, "c", "m3", Some("a-m2"), 3).await;
}

/// A cycle cannot be stored; one in a damaged file must not hang a reader.
#[tokio::test]
async fn cycle_of_parents_does_not_hang_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    turn(&store, "c", "m1", None, 1).await;
    execute(&mut connect_outside(&folder).await, "UPDATE messages SET parent_id = 'a-m1' WHERE id = 'm1'").await;
    assert_eq!(store.branch("ada", "c").await.unwrap().len(), 2);
}

/// A lock of 2 s has no effect on callers; a longer one is an error for all waiting callers, until
/// it is released.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lock_by_another_process_delays_or_fails_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    let mut outsider = connect_outside(&folder).await;
    let write = |key: &str| {
        let (store, begin) = (store.clone(), submission(key, key, None, 1));
        tokio::spawn(async move { store.begin_run("ada", begin).await })
    };

    execute(&mut outsider, "BEGIN EXCLUSIVE").await;
    let (short, begun) = (write("short"), Instant::now());
    tokio::time::sleep(Duration::from_secs(2)).await;
    execute(&mut outsider, "COMMIT").await;
    assert_eq!(short.await.unwrap(), Ok(BeginRunOutcome::Started { epoch: 1 }));
    assert!(begun.elapsed() >= Duration::from_secs(2));

    execute(&mut outsider, "BEGIN EXCLUSIVE").await;
    let waiting: Vec<_> = (0..20).map(|number| write(&format!("long{number}"))).collect();
    assert_eq!(
        store.conversations("ada", wire::organize::ListFilter::default(), 9, None).await.unwrap().len(),
        1,
        "reading goes on"
    );
    for refused in waiting {
        assert_eq!(refused.await.unwrap(), Err(StoreError::Locked));
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "they wait together, not one after the other");
    execute(&mut outsider, "ROLLBACK").await;
    assert_eq!(write("after").await.unwrap(), Ok(BeginRunOutcome::Started { epoch: 1 }));
    assert_eq!(store.conversations("ada", wire::organize::ListFilter::default(), 99, None).await.unwrap().len(), 2);
}

/// A file that cannot be opened is refused with one clear line.
#[tokio::test]
async fn unusable_file_is_refused_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().display().to_string();
    let check = async |url: &str, expected: &str| {
        let error = Store::open(url).await.err().unwrap_or_else(|| panic!("{url} opens")).to_string();
        assert_eq!(error.replace(&root, "ROOT"), expected, "{url}");
    };
    check("mysql://u:secret@h/d", "`mysql:` databases are not supported; use `sqlite://PATH` or `postgres://…`").await;
    let url = "the database URL is invalid; use `postgres://USER:PASSWORD@HOST/DATABASE`";
    check("postgres://u:secret@[h/d", url).await;
    check(&format!("sqlite://{root}"), "cannot open the database ROOT: it is a folder").await;
    let missing = format!("sqlite://{root}/missing.db?mode=rw");
    check(&missing, "cannot open the database ROOT/missing.db: there is no such file").await;
    assert!(!folder.path().join("missing.db").exists(), "a missing database is not made when one was expected");

    std::fs::write(folder.path().join("text.db"), "this is no database, ".repeat(100)).unwrap();
    let damaged = "cannot open the database ROOT/text.db: its file is damaged or is not a database";
    check(&format!("sqlite://{root}/text.db"), damaged).await;
    std::fs::write(folder.path().join("file"), "").unwrap();
    let below = "cannot create the database ROOT/file/chat.db: not a directory";
    check(&format!("sqlite://{root}/file/chat.db"), below).await;

    let url = url_in(&folder);
    drop(Store::open(&url).await.unwrap());
    let newer = "INSERT INTO _sqlx_migrations VALUES (9001, 'later', 0, true, x'00', 0)";
    execute(&mut connect_outside(&folder).await, newer).await;
    let newer = "cannot open the database ROOT/data/chat.db: a newer version of Chatwright wrote it (schema 9001); start that version";
    check(&url, newer).await;
}

/// Of several processes that start together one migrates, and all of them open the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_opens_migrate_a_new_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let url = url_in(&folder);
    let opened = futures::future::join_all((0..8).map(|_| Store::open(&url))).await;
    for (number, store) in opened.into_iter().map(Result::unwrap).enumerate() {
        turn(&store, &format!("c{number}"), &format!("m{number}"), None, 1).await;
        assert_eq!(
            store.conversations("ada", wire::organize::ListFilter::default(), 99, None).await.unwrap().len(),
            number + 1
        );
    }
}

/// Other users of the machine must not be able to read conversations.
#[cfg(unix)]
#[tokio::test]
async fn new_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    turn(&store, "c", "m", None, 1).await;
    let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
    for (name, expected) in
        [("data", 0o700), ("data/chat.db", 0o600), ("data/chat.db-wal", 0o600), ("data/chat.db-shm", 0o600)]
    {
        assert_eq!(mode(name), expected, "{name}: {:o}", mode(name));
    }
}
