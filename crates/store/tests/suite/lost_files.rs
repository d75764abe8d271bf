//! Files of an open database that are moved, deleted, replaced or truncated: no write is
//! acknowledged that a restart would not find, and earlier writes are saved where possible.

use crate::support::{branch, connect_outside, execute, submission, turn, url_in};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use store::{Store, StoreError};
use tempfile::TempDir;

/// A database with one acknowledged answer.
struct Served {
    store: Store,
    folder: TempDir,
}

impl Served {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&url_in(&folder)).await.unwrap();
        turn(&store, "before", "before", None, 1).await;
        Self { store, folder }
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder.path().join(format!("data/chat.db{suffix}"))
    }

    fn remove(&self, suffixes: &[&str]) {
        suffixes.iter().for_each(|suffix| fs::remove_file(self.path(suffix)).unwrap());
    }

    fn cut(&self, suffix: &str, size: u64) {
        File::options().write(true).open(self.path(suffix)).unwrap().set_len(size).unwrap();
    }

    /// Asserts that writes and the readiness check are refused.
    async fn is_refused(&self, expected: &str) {
        for _ in 0..2 {
            let ping = self.store.ping().await;
            assert!(matches!(&ping, Err(StoreError::FileLost(why)) if why.contains(expected)), "{expected}: {ping:?}");
            let sent = self.store.begin_run("ada", submission("after", "after", None, 2)).await;
            assert_eq!(sent.map(drop), ping, "{expected}");
        }
        assert_eq!(branch(&self.store, "before").await, BEFORE, "reading goes on");
    }

    async fn goes_on(&self) {
        self.store.ping().await.unwrap();
        turn(&self.store, "later", "later", None, 3).await;
    }
}

const BEFORE: &str = "before=text of before | a-before=done before";

/// Returns what a start after a kill finds in a database file: that file alone, as it is now.
async fn found(database: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(database, &copy).unwrap();
    let store = Store::open(&format!("sqlite://{}", copy.display())).await.unwrap();
    assert_eq!(store.conversation("ada", "after").await, Ok(None), "it was refused");
    branch(&store, "before").await
}

#[tokio::test]
async fn deleted_files_are_noticed() {
    let served = Served::open().await;
    let open = File::open(served.path("")).unwrap();
    served.remove(&["", "-wal", "-shm"]);
    served.is_refused("chat.db was deleted").await;
    // Another file at the path is not the open one.
    fs::write(served.path(""), "").unwrap();
    served.is_refused("chat.db was replaced by another file").await;
    // A copy of the open file, as the log message advises, has everything.
    let copy = served.path("-copy");
    std::io::copy(&mut { open }, &mut File::create(&copy).unwrap()).unwrap();
    assert_eq!(found(&copy).await, BEFORE);
}

#[tokio::test]
async fn deleted_database_is_noticed() {
    let served = Served::open().await;
    served.remove(&[""]);
    served.is_refused("chat.db was deleted").await;
}

/// The content of the log is saved: a restart finds it in the database.
#[tokio::test]
async fn deleted_log_is_noticed_and_saved() {
    for files in [&["-wal"][..], &["-wal", "-shm"]] {
        let served = Served::open().await;
        served.remove(files);
        served.is_refused("chat.db-wal was deleted").await;
        assert_eq!(found(&served.path("")).await, BEFORE);
    }
}

#[tokio::test]
async fn deleted_index_is_noticed() {
    let served = Served::open().await;
    served.remove(&["-shm"]);
    served.is_refused("chat.db-shm was deleted").await;
}

#[tokio::test]
async fn moved_file_is_used_again_when_it_is_back() {
    for suffix in ["", "-wal", "-shm"] {
        let served = Served::open().await;
        let away = served.path("-away");
        fs::rename(served.path(suffix), &away).unwrap();
        let how = if suffix == "-shm" { "deleted" } else { "moved away" };
        served.is_refused(&format!("chat.db{suffix} was {how}")).await;
        if suffix.is_empty() {
            assert_eq!(found(&away).await, BEFORE, "the moved file has everything");
        }
        fs::rename(&away, served.path(suffix)).unwrap();
        served.goes_on().await;
    }
    // Moves the folder with all files.
    let served = Served::open().await;
    fs::rename(served.folder.path().join("data"), served.folder.path().join("away")).unwrap();
    served.is_refused("chat.db was moved away").await;
    fs::rename(served.folder.path().join("away"), served.folder.path().join("data")).unwrap();
    served.goes_on().await;
    served.store.close().await;
    let store = Store::open(&url_in(&served.folder)).await.unwrap();
    assert_eq!(branch(&store, "later").await, "later=text of later | a-later=done later");
}

#[tokio::test]
async fn replaced_file_is_noticed() {
    for suffix in ["", "-wal", "-shm"] {
        let served = Served::open().await;
        let other = served.path("-other");
        fs::copy(served.path(suffix), &other).unwrap();
        fs::rename(&other, served.path(suffix)).unwrap();
        served.is_refused(&format!("chat.db{suffix} was replaced by another file")).await;
    }
}

/// The content of a truncated file is unreliable, even if it grows again.
#[tokio::test]
async fn cut_file_is_refused_until_a_restart() {
    for (suffix, size) in [("", 0), ("", 100), ("", 8192), ("-wal", 0), ("-wal", 5000)] {
        let served = Served::open().await;
        // So that the database file has content, too.
        execute(&mut connect_outside(&served.folder).await, "PRAGMA wal_checkpoint(TRUNCATE)").await;
        turn(&served.store, "more", "more", None, 2).await;
        let before = fs::read(served.path(suffix)).unwrap();
        served.cut(suffix, size);
        let expected = format!("chat.db{suffix} was truncated to {size} bytes");
        let ping = served.store.ping().await;
        assert!(matches!(&ping, Err(StoreError::FileLost(why)) if why.contains(&expected)), "{expected}: {ping:?}");
        fs::write(served.path(suffix), before).unwrap();
        let sent = served.store.begin_run("ada", submission("after", "after", None, 2)).await;
        assert_eq!(sent.map(drop), ping);
    }
}

/// As by `cp` when a backup is restored: the same file with other content.
#[tokio::test]
async fn overwritten_database_is_refused_until_a_restart() {
    let served = Served::open().await;
    let backup = served.path("-backup");
    execute(&mut connect_outside(&served.folder).await, "PRAGMA wal_checkpoint(TRUNCATE)").await;
    fs::copy(served.path(""), &backup).unwrap();
    turn(&served.store, "more", "more", None, 2).await;
    fs::write(served.path(""), fs::read(&backup).unwrap()).unwrap();
    let expected = "chat.db was overwritten";
    let ping = served.store.ping().await;
    assert!(matches!(&ping, Err(StoreError::FileLost(why)) if why.contains(expected)), "{ping:?}");
    let sent = served.store.begin_run("ada", submission("after", "after", None, 2)).await;
    assert_eq!(sent.map(drop), ping);
}

/// Overwrites a part of a file until its time of change is another one: the system's clock for it
/// may be coarse.
fn overwrite(path: &Path, at: u64, size: usize) {
    let file = File::options().write(true).open(path).unwrap();
    let before = file.metadata().unwrap().modified().unwrap();
    while file.metadata().unwrap().modified().unwrap() == before {
        file.write_all_at(&vec![0; size], at).unwrap();
    }
}

/// The log as it is: neither a checkpoint nor the end of the server copies foreign bytes into the
/// database.
#[tokio::test]
async fn log_that_is_overwritten_within_is_refused_until_a_restart() {
    for (at, size) in [(4096, 65536), (40, 1), (0, 32), (16, 8)] {
        let served = Served::open().await;
        execute(&mut connect_outside(&served.folder).await, "PRAGMA wal_checkpoint(TRUNCATE)").await;
        for round in 0..8 {
            let id = format!("more{round}");
            turn(&served.store, &id, &id, None, 2).await;
        }
        let database = fs::read(served.path("")).unwrap();
        let log = fs::read(served.path("-wal")).unwrap();
        assert!(log.len() > 4096 + 65536, "the log is long enough: {}", log.len());
        overwrite(&served.path("-wal"), at, size);
        let ping = served.store.ping().await;
        let is_noticed = matches!(&ping, Err(StoreError::FileLost(why)) if why.contains("chat.db-wal was "));
        assert!(is_noticed, "{at}: {ping:?}");
        // What was written there is unknown, even if it is right again.
        fs::write(served.path("-wal"), log).unwrap();
        let sent = served.store.begin_run("ada", submission("after", "after", None, 2)).await;
        assert_eq!(sent.map(drop), ping);
        served.store.close().await;
        assert!(fs::read(served.path("")).unwrap() == database, "{at}: the database is as it was");
    }
}

/// Changes that other processes make through SQLite are no fault.
#[tokio::test]
async fn checkpoint_and_vacuum_by_another_process_are_no_faults() {
    let served = Served::open().await;
    let mut outsider = connect_outside(&served.folder).await;
    for statement in [
        "CREATE TABLE filler (data BLOB); INSERT INTO filler VALUES (zeroblob(1000000))",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "DROP TABLE filler",
        "VACUUM",
    ] {
        execute(&mut outsider, statement).await;
        served.store.ping().await.unwrap();
    }
    let before = served.path("").metadata().unwrap().len();
    execute(&mut outsider, "PRAGMA wal_checkpoint(TRUNCATE)").await;
    assert!(served.path("").metadata().unwrap().len() < before, "the database became smaller");
    served.goes_on().await;
}
