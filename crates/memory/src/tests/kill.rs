//! Kills the process at many moments while conversations are read, and lets another one go on.

use super::*;
use test_process::{command, run};

const URL: &str = "MEMORY_KILL_URL";
const TEST: &str = "tests::kill::each_fact_is_stored_once_however_often_the_server_is_killed";
const CONVERSATIONS: usize = 12;

/// Stores conversations that are to be read.
async fn write(url: &str) {
    let store = Schema::new(TABLES).open(url, "", Duration::ZERO).await.unwrap();
    let jobs = Jobs::new(store.clone());
    // Not started: nothing is read here.
    let server = Server::new(Memory::new(store, jobs.clone()), Workers::new(jobs), false);
    for number in 0..CONVERSATIONS {
        server.turn("ada", &format!("c-{number}"), "helper", &format!("I like dish {number}.").as_str().into()).await;
    }
    server.close().await;
}

/// Reads them.
async fn serve(url: &str) {
    let server = Server::open(url).await;
    server.settle().await;
    assert_eq!(server.known("ada").await.len(), CONVERSATIONS);
    server.close().await;
}

#[test]
fn each_fact_is_stored_once_however_often_the_server_is_killed() {
    if let Some(url) = std::env::var_os(URL) {
        return runtime().block_on(serve(url.to_str().unwrap()));
    }
    kill_at_moments(3);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn each_fact_is_stored_once_thoroughly() {
    kill_at_moments(1);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Kills a process at every `step`-th moment.
fn kill_at_moments(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
    runtime().block_on(write(&url("whole.db")));
    let took = run(command(TEST, URL, url("whole.db")), None).unwrap();
    let killed = url("killed.db");
    runtime().block_on(write(&killed));
    let mut kills = 0;
    for moment in (1..8).step_by(step) {
        kills += u32::from(run(command(TEST, URL, &killed), Some(took * moment / 8)).is_none());
    }
    run(command(TEST, URL, &killed), None).unwrap();
    assert!(kills > 0, "each process was done before it was to be killed");
}
