//! A database file belongs to one process: a second one is refused, by whatever name it opens the
//! file, or waits until the first has ended.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use store::{Schema, Store, StoreError};

const URL: &str = "STORE_HOLDER_URL";

/// The first process: it runs this ignored test, and serves the file until its standard input ends.
#[tokio::test]
#[ignore = "run by the tests below"]
async fn holder() {
    let store = Schema::default().open(&std::env::var(URL).unwrap(), "since noon", Duration::ZERO).await.unwrap();
    store.announce("http://127.0.0.1:1");
    println!("\nserving");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    store.close().await;
}

struct Holder(Child);

impl Holder {
    fn start(database: &Path) -> Self {
        let mut command = test_process::command("holder", URL, url(database));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map(Result::unwrap).any(|line| line == "serving"), "the first process does not serve");
        Self(child)
    }

    fn end(&mut self) {
        self.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn url(database: &Path) -> String {
    format!("sqlite://{}", database.display())
}

async fn refused(database: &Path) -> String {
    match Schema::default().open(&url(database), "", Duration::ZERO).await {
        Ok(_) => panic!("{} is served by two processes", database.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn second_process_is_refused_by_every_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let database = path("chat.db");
    let mut holder = Holder::start(&database);
    let by = format!("process {}", holder.0.id());
    let same = refused(&database).await;
    assert!(same.contains(&by) && same.contains("http://127.0.0.1:1"), "{same}");
    assert!(same.contains("another server has it open") && same.contains("use PostgreSQL"), "{same}");

    std::os::unix::fs::symlink(&database, path("symbolic.db")).unwrap();
    let symbolic = refused(&path("symbolic.db")).await;
    assert!(symbolic.contains(&by), "{symbolic}");
    std::fs::hard_link(&database, path("hard.db")).unwrap();
    let hard = refused(&path("hard.db")).await;
    assert!(hard.contains("the file has 2 names (hard links)"), "{hard}");

    // Also refused after the first process was killed: its log is not found by the other name.
    holder.kill();
    assert!(refused(&path("hard.db")).await.contains("hard links"));
    assert!(refused(&database).await.contains("hard links"));
    std::fs::remove_file(path("hard.db")).unwrap();
    Schema::default().open(&url(&path("symbolic.db")), "", Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn killed_process_releases_the_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("chat.db");
    for _ in 0..3 {
        let mut holder = Holder::start(&database);
        refused(&database).await;
        holder.kill();
        Schema::default().open(&url(&database), "", Duration::ZERO).await.unwrap().close().await;
    }
    assert!(!folder.path().join("chat.db-server").exists(), "the notice goes with the server");
}

#[tokio::test]
async fn second_process_waits_for_the_first_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("chat.db");
    let mut holder = Holder::start(&database);
    let has_ended = std::cell::Cell::new(false);
    let opened = async {
        let store = Schema::default().open(&url(&database), "", Duration::from_secs(60)).await.unwrap();
        assert!(has_ended.get(), "it does not wait");
        store
    };
    let ends = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        has_ended.set(true);
        holder.end();
    };
    let (store, ()) = tokio::join!(opened, ends);
    store.ping().await.unwrap();
}

/// Commands that read work beside a server; those that replace the file or take over its runs do
/// not.
#[tokio::test]
async fn readers_work_beside_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let (database, copy) = (folder.path().join("chat.db"), folder.path().join("copy.db"));
    let _holder = Holder::start(&database);
    Store::copy(&database, &copy).await.unwrap();
    Store::inspect(&copy).await.unwrap();
    let beside = Store::open_existing(&url(&database)).await.unwrap();
    beside.ping().await.unwrap();
    assert_eq!(beside.open_runs().await, Ok(Vec::new()));
    assert!(matches!(beside.take_over_runs().await, Err(StoreError::Invalid(_))));
    beside.close().await;

    let check = |done: Result<(), StoreError>| {
        let refused = done.unwrap_err().to_string();
        assert!(refused.contains("a server has it open; stop it first (process "), "{refused}");
    };
    check(Store::claim(&database).await.map(drop));
    check(Schema::default().transfer(&url(&database), &url(&folder.path().join("new.db")), false).await.map(drop));
    Schema::default().transfer(&url(&copy), &url(&folder.path().join("new.db")), false).await.unwrap();
}
