//! Faults of the writer that no public call can cause: a full disk at every point, a panic, a
//! failing commit, a deleted file.

use super::{Claimant, open};
use crate::Schema;
use crate::StoreError;
use crate::database::{Database, ReadConnections};
use crate::sql::{self, Db};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;

async fn database() -> (Database, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let claimant = Claimant { about: String::new(), timeout: Duration::ZERO };
    let database = open(&format!("sqlite://{}", folder.path().join("chat.db").display()), &claimant, Schema::default())
        .await
        .unwrap();
    (database, folder)
}

/// Inserts a conversation of `size` bytes, then fails if `fail`.
fn insert(
    id: String,
    size: usize,
    fail: bool,
) -> impl for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<(), StoreError>> + Send + 'static {
    move |db| {
        Box::pin(async move {
            let sql =
                "INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at)
                VALUES ($1, 'ada', '', '', $2, '', 0, 0, 0)";
            sql::query(sql).bind(id).bind("x".repeat(size)).execute(db).await?;
            if fail { Err(StoreError::Busy) } else { Ok(()) }
        })
    }
}

/// Does the same, may be done again, and counts how often it was.
fn insert_repeatably(
    id: String,
    fail: bool,
    runs: Arc<AtomicUsize>,
) -> impl for<'c> Fn(&'c mut Db) -> BoxFuture<'c, Result<(), StoreError>> + Send + 'static {
    move |db| {
        runs.fetch_add(1, Ordering::Relaxed);
        insert(id.clone(), 1, fail)(db)
    }
}

/// Runs these writes as one group: they are queued behind a write that ends only when all of them
/// are queued.
async fn group<T>(database: &Database, writes: impl IntoIterator<Item = T>) -> Vec<T::Output>
where
    T: Future,
{
    let (begin, begun) = oneshot::channel();
    let (end, ended) = oneshot::channel::<()>();
    let hold = tokio::spawn(database.writer.run(move |_| {
        Box::pin(async move {
            let _ = begin.send(());
            let _ = ended.await;
            Ok(())
        })
    }));
    begun.await.unwrap();
    let writes: Vec<_> = writes.into_iter().collect();
    let count = writes.len();
    let release = async {
        while database.writer.queued_writes() < count {
            tokio::task::yield_now().await;
        }
        let _ = end.send(());
    };
    let (results, ()) = tokio::join!(join_all(writes), release);
    hold.await.unwrap().unwrap();
    results
}

async fn scalar(database: &Database, sql: String) -> String {
    let read = database.writer.run(move |db| {
        Box::pin(async move {
            let value = sql::query_scalar::<String>(Arc::from(sql)).fetch_one(db).await?;
            Ok(value)
        })
    });
    read.await.unwrap()
}

async fn ids(database: &Database) -> String {
    let sql = "SELECT coalesce(group_concat(id, ' '), '') FROM (SELECT id FROM conversations ORDER BY id)";
    scalar(database, sql.to_owned()).await
}

/// A job that fails loses only its own changes, alone or in a group.
#[tokio::test]
async fn failed_job_loses_only_its_own_changes() {
    let (database, _folder) = database().await;
    let alone = database.writer.run(insert("alone".to_owned(), 1, true)).await;
    assert_eq!(alone, Err(StoreError::Busy));
    let writes = (0..9).map(|number| database.writer.run(insert(format!("g{number}"), 1, number % 3 == 0)));
    let results = group(&database, writes).await;
    for (number, result) in results.into_iter().enumerate() {
        assert_eq!(result.is_err(), number % 3 == 0, "{number}");
    }
    assert_eq!(ids(&database).await, "g1 g2 g4 g5 g7 g8");
}

/// Repeatable jobs of a group run once. If one of them fails, those that it was run together with run again.
#[tokio::test]
async fn failed_repeatable_job_loses_only_its_own_changes() {
    // A capital letter is a job that fails; `r` may be repeated, `o` may not.
    let check = async |kinds: &str, runs: usize, stored: &str| {
        let (database, _folder) = database().await;
        let count = Arc::new(AtomicUsize::new(0));
        let writes = kinds.char_indices().map(|(number, kind)| {
            let (id, fail) = (format!("j{number}"), kind.is_uppercase());
            if kind.eq_ignore_ascii_case(&'r') {
                database.writer.run_repeatable(insert_repeatably(id, fail, count.clone())).boxed()
            } else {
                database.writer.run(insert(id, 1, fail)).boxed()
            }
        });
        for (kind, result) in kinds.chars().zip(group(&database, writes).await) {
            assert_eq!(result.is_err(), kind.is_uppercase(), "{kinds}");
        }
        assert_eq!((count.load(Ordering::Relaxed), ids(&database).await), (runs, stored.to_owned()), "{kinds}");
    };
    check("R", 1, "").await;
    check("rrrr", 4, "j0 j1 j2 j3").await;
    check("rrRr", 3 + 4, "j0 j1 j3").await;
    check("RRR", 1 + 3, "").await;
    check("rror", 3, "j0 j1 j2 j3").await;
    check("rRoR", 2 + 2 + 1, "j0 j2").await;
    check("oRrO", 1 + 2, "j0 j2").await;
}

#[tokio::test]
async fn panic_fails_only_its_own_write() {
    let (database, _folder) = database().await;
    let panicking = database.writer.run::<(), _>(|_| Box::pin(async { panic!("on purpose") }));
    let (panicked, fine) = tokio::join!(panicking, database.writer.run(insert("fine".to_owned(), 1, false)));
    assert_eq!(panicked, Err(StoreError::Failed("a job of the store panicked".to_owned())));
    assert_eq!(fine, Ok(()));
    assert_eq!(ids(&database).await, "fine");
}

/// If the commit fails, no job of the group is acknowledged. A foreign key that is checked only at
/// the commit makes one fail.
#[tokio::test]
async fn failed_commit_fails_the_whole_group() {
    let (database, _folder) = database().await;
    let broken = database.writer.run(|db| {
        Box::pin(async move {
            db.run("PRAGMA defer_foreign_keys = ON").await?;
            let sql = "INSERT INTO messages (conversation_id, id, role, created_at, body) VALUES ('no', 'm', 'user', 0, '{}')";
            Ok(db.run(sql).await?)
        })
    });
    let beside = database.writer.run(insert("beside".to_owned(), 1, false));
    let refused = StoreError::Invalid("a message refers to one that is not in this conversation");
    assert_eq!(group(&database, [broken.boxed(), beside.boxed()]).await, [Err(refused.clone()), Err(refused)]);
    database.writer.run(insert("after".to_owned(), 1, false)).await.unwrap();
    assert_eq!(ids(&database).await, "after");
}

/// Wherever the disk becomes full: unsaved writes are not acknowledged, reading works, the file is
/// intact, and writing works again when there is space.
#[tokio::test]
async fn full_disk_loses_no_acknowledged_write() {
    for spare in 0..12 {
        let (database, _folder) = database().await;
        let pages: u32 = scalar(&database, "SELECT CAST(page_count AS TEXT) FROM pragma_page_count".to_owned())
            .await
            .parse()
            .unwrap();
        set_max_pages(&database, pages + spare).await;
        let mut stored = Vec::new();
        for round in 0..6 {
            let writes = (0..4).map(|number| database.writer.run(insert(format!("c{round}{number}"), 1500, false)));
            for (number, result) in group(&database, writes).await.into_iter().enumerate() {
                match result {
                    Ok(()) => stored.push(format!("c{round}{number}")),
                    Err(error) => assert_eq!(error, StoreError::Full, "{spare} pages"),
                }
            }
        }
        assert!(stored.len() < 24, "{spare} pages: the disk was full");
        assert_eq!(ids(&database).await, stored.join(" "), "{spare} pages");
        assert_eq!(scalar(&database, "SELECT integrity_check FROM pragma_integrity_check".to_owned()).await, "ok");
        let ReadConnections::Sqlite(readers) = &database.readers else { panic!("a file has readers") };
        let count = readers.run(|db| {
            Box::pin(
                async move { Ok(sql::query_scalar::<i64>("SELECT count(*) FROM conversations").fetch_one(db).await?) },
            )
        });
        assert_eq!(count.await, Ok(stored.len() as i64));

        set_max_pages(&database, 10_000).await;
        database.writer.run(insert("after".to_owned(), 1500, false)).await.unwrap();
        assert_eq!(ids(&database).await, [&["after".to_owned()], &stored[..]].concat().join(" "));
    }
}

async fn set_max_pages(database: &Database, pages: u32) {
    let set = database.writer.run(move |db| {
        Box::pin(async move {
            let sql: Arc<str> = format!("PRAGMA max_page_count = {pages}").into();
            Ok(sql::query_scalar::<i64>(sql).fetch_one(db).await?)
        })
    });
    assert_eq!(set.await.unwrap(), i64::from(pages));
}

/// A readiness check must write: a transaction without a write does not detect a full or read-only
/// disk.
#[tokio::test]
async fn ping_writes_to_the_disk() {
    let (database, folder) = database().await;
    let store = crate::Store { database, schema: Schema::default() };
    let written = || folder.path().join("chat.db-wal").metadata().unwrap().len();
    let before = written();
    store.ping().await.unwrap();
    assert!(written() > before);
}

/// If the files are deleted while a transaction runs, its writes are not acknowledged.
#[tokio::test]
async fn commit_into_a_deleted_file_is_not_acknowledged() {
    for name in ["chat.db", "chat.db-wal"] {
        let (database, folder) = database().await;
        let path = folder.path().join(name);
        let remove = database.writer.run(move |_| {
            Box::pin(async move {
                std::fs::remove_file(path).unwrap();
                Ok(())
            })
        });
        let writes = [database.writer.run(insert("a".to_owned(), 1, false)).boxed(), remove.boxed()];
        for result in group(&database, writes).await {
            assert!(matches!(result, Err(StoreError::FileLost(_))), "{name}: {result:?}");
        }
    }
}
