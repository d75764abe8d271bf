//! Kills processes that enqueue and run jobs: what was acknowledged is done, and exactly once.

use super::{WORK, job, workers};
use crate::{Backoff, Handler, JobContext, Jobs, Kind, Outcome};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;
use store::sql::{self, Db};
use store::{Store, StoreError};

const URL: &str = "JOBS_KILL_URL";

/// A job whose server was killed is tried again soon, and as often as it takes.
const PATIENT: Kind<String> =
    WORK.attempts(1_000).backoff(Backoff { base: Duration::from_millis(1), cap: Duration::from_millis(1) });

/// A handler that writes what the job is about in the transaction that ends it.
fn handler() -> Handler {
    Handler::new(PATIENT, |job: JobContext, text: String| async move {
        job.write(|db| Box::pin(async move { Ok(sql::query("SELECT 1").execute(db).await.map(drop)?) })).await?;
        Ok(job.finish(Outcome::DONE, move |db| Box::pin(record(db, text))).await?)
    })
}

async fn record(db: &mut Db, text: String) -> Result<(), StoreError> {
    Ok(sql::query("INSERT INTO effects (text) VALUES ($1)").bind(text).execute(db).await.map(drop)?)
}

/// The process to kill: it enqueues jobs, runs them, and prints which were acknowledged.
#[tokio::test]
#[ignore = "run by the test below"]
async fn victim() {
    let jobs = Jobs::new(Store::open(&std::env::var(URL).unwrap()).await.unwrap());
    jobs.store().heartbeat(Duration::from_secs(60)).await.unwrap();
    let workers = workers(&jobs);
    workers.add(handler());
    workers.start();
    for number in 0.. {
        let text = format!("{}-{number}", std::process::id());
        jobs.enqueue(job(&text).key(text.clone())).await.unwrap();
        println!("\nenqueued {text}");
    }
}

struct Victim(Child);

impl Victim {
    fn start(url: &str) -> Self {
        let mut command = test_process::command("tests::kill::victim", URL, url);
        Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Reads until this many jobs were acknowledged, kills the process, and returns all of them.
    fn kill_after(mut self, count: usize) -> Vec<String> {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut enqueued = lines.filter_map(|line| line.strip_prefix("enqueued ").map(str::to_owned));
        let mut acknowledged: Vec<_> = enqueued.by_ref().take(count).collect();
        self.0.kill().unwrap();
        acknowledged.extend(enqueued);
        self.0.wait().unwrap();
        acknowledged
    }
}

#[tokio::test]
async fn acknowledged_jobs_are_done_exactly_once_however_often_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    check(&format!("sqlite://{}", folder.path().join("jobs.db").display()), 1).await;
    if let Some(url) = test_postgres::new_database().await {
        check(&url, 2).await;
    }
}

async fn check(url: &str, servers: usize) {
    let store = Store::open(url).await.unwrap();
    let create = "CREATE TABLE effects (text TEXT NOT NULL)";
    store.write(move |db| Box::pin(async move { Ok(sql::query(create).execute(db).await.map(drop)?) })).await.unwrap();
    store.close().await;
    let mut acknowledged = Vec::new();
    for round in 1..=6 {
        let victims: Vec<_> = (0..servers).map(|_| Victim::start(url)).collect();
        for victim in victims {
            acknowledged.extend(victim.kill_after(round * 5));
        }
    }
    let jobs = Jobs::new(Store::open(url).await.unwrap());
    let workers = workers(&jobs);
    workers.add(handler());
    workers.start();
    let is_idle = "SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'test.work' AND state IN ('waiting', 'running'))";
    let read = async || {
        let read = jobs
            .store()
            .read(move |db| Box::pin(async move { Ok(sql::query_scalar::<bool>(is_idle).fetch_one(db).await?) }));
        read.await.unwrap()
    };
    for _ in 0..600 {
        if read().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let list = "SELECT text FROM effects ORDER BY text";
    let effects = jobs
        .store()
        .read(move |db| Box::pin(async move { Ok(sql::query_scalar::<String>(list).fetch_all(db).await?) }));
    let effects = effects.await.unwrap();
    let mut once = effects.clone();
    once.dedup();
    assert_eq!(effects, once, "a job was done twice");
    let missing: Vec<_> = acknowledged.iter().filter(|text| !effects.contains(text)).collect();
    assert!(missing.is_empty(), "of {} jobs {missing:?} were not done", acknowledged.len());
    assert!(acknowledged.len() >= servers * 100, "{}", acknowledged.len());
    workers.shutdown(Duration::from_secs(5)).await;
    jobs.store().close().await;
}
