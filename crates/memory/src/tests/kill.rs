//! Kills the process at many moments while conversations are read, and lets another one go on.

use super::*;
use test_process::KillTest;

const KILLS: KillTest = KillTest {
    variable: "MEMORY_KILL_URL",
    test: "tests::kill::each_fact_is_stored_once_however_often_the_server_is_killed",
};
const CONVERSATIONS: usize = 12;

/// Opens a server that runs no jobs.
async fn open_idle(url: &str) -> Server {
    let store = Schema::new(TABLES).open(url, "", Duration::from_secs(10)).await.unwrap();
    let jobs = Jobs::new(store.clone());
    Server::new(Memory::new(store, jobs.clone()), Workers::new(jobs), false)
}

/// Stores conversations that are to be read.
async fn write(url: &str) {
    let server = open_idle(url).await;
    for number in 0..CONVERSATIONS {
        server.turn("ada", &format!("c-{number}"), "helper", &format!("I like dish {number}.").as_str().into()).await;
    }
    server.close().await;
}

/// Reads them.
async fn serve(url: &str) {
    let server = Server::open(url).await;
    server.settle().await;
    assert_eq!(server.facts("ada").await.len(), CONVERSATIONS);
    server.close().await;
}

/// Returns the number of stored facts. The messages that the killed process was reading wait again
/// at once, and not only after the time in which it might still be alive and the pause before
/// another attempt.
async fn check(url: &str) -> usize {
    let server = open_idle(url).await;
    let again =
        "UPDATE jobs SET state = 'waiting', due_at = 0, delayed_at = NULL, holder = NULL WHERE state = 'running'";
    let again = ::store::sql::query(again);
    server
        .memory
        .store()
        .write(move |db| Box::pin(async move { Ok(again.execute(db).await.map(drop)?) }))
        .await
        .unwrap();
    let known = server.facts("ada").await.len();
    server.close().await;
    known
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fact_is_stored_once_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run_after(write, CONVERSATIONS, check).await;
}
