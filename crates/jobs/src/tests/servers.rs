//! Servers that die, freeze, or share a database.

use super::{Log, WORK, job, on_each_database, states, until, until_logged, workers};
use crate::{Handler, Jobs, Outcome, Workers};
use std::sync::Arc;
use std::time::Duration;
use store::sql::{self, Db};
use store::{Store, StoreError};
use tokio::sync::Notify;

/// The queues of two servers on one PostgreSQL; `None` if it is not installed.
async fn two_servers() -> Option<(Jobs, Jobs)> {
    let url = test_postgres::new_database().await?;
    let (a, b) = (Store::open(&url).await.unwrap(), Store::open(&url).await.unwrap());
    for store in [&a, &b, &a] {
        store.heartbeat(Duration::from_secs(60)).await.unwrap();
    }
    assert!(a.has_others() && b.has_others());
    Some((Jobs::new(a), Jobs::new(b)))
}

/// Workers whose handler waits for `go` and then writes and ends its job in one transaction.
fn writers(jobs: &Jobs, name: &'static str, log: &Log, go: &Arc<Notify>) -> Workers {
    started(workers(jobs), name, log, go)
}

/// Adds that handler to workers, and starts them.
fn started(workers: Workers, name: &'static str, log: &Log, go: &Arc<Notify>) -> Workers {
    let (log, go) = (log.clone(), go.clone());
    workers.add(Handler::new(WORK, move |job, _| {
        let (log, go) = (log.clone(), go.clone());
        async move {
            log.add(format!("{name} begins attempt {}", job.attempt()));
            go.notified().await;
            let written = job.write(move |db| Box::pin(mark(db, name))).await;
            let finished = job.finish(Outcome::DONE, move |db| Box::pin(mark(db, name))).await;
            log.add(format!("{name}: {}, {}", written.is_ok(), finished.is_ok()));
            Ok(finished?)
        }
    }));
    workers.start();
    workers
}

async fn mark(db: &mut Db, text: &str) -> Result<(), StoreError> {
    let write = sql::query("UPDATE jobs SET payload = $1 WHERE kind = 'test.work'").bind(text);
    Ok(write.execute(db).await.map(drop)?)
}

async fn payload(jobs: &Jobs) -> String {
    let find = "SELECT payload FROM jobs WHERE kind = 'test.work'";
    let read = jobs.store().read(move |db| Box::pin(async move { Ok(sql::query_scalar(find).fetch_one(db).await?) }));
    read.await.unwrap()
}

/// A worker freezes for longer than its lease, another one takes its job, and the first one wakes up:
/// before and after the end of the second attempt its writes are refused.
async fn frozen(a: &Jobs, b: &Jobs) {
    let (log, go) = (Log::default(), [Arc::new(Notify::new()), Arc::new(Notify::new())]);
    let first = writers(a, "first", &log, &go[0]);
    a.enqueue(job("a")).await.unwrap();
    until_logged(&log, 1).await;
    first.freeze();
    let second = writers(b, "second", &log, &go[1]);
    until_logged(&log, 2).await;
    go[0].notify_one();
    until_logged(&log, 3).await;
    assert_eq!(states(b).await, "running: the server that ran it stopped without ending it");
    assert_eq!(payload(b).await, "\"a\"");
    go[1].notify_one();
    until(b, "done").await;
    // The handler logs what it did after the job is done.
    until_logged(&log, 4).await;
    assert_eq!(payload(b).await, "second");
    let expected = "first begins attempt 1, second begins attempt 2, first: false, false, second: true, true";
    assert_eq!(log.text(), expected);
    second.shutdown(Duration::ZERO).await;
}

#[tokio::test]
async fn a_frozen_worker_that_wakes_writes_nothing() {
    // With SQLite, the second worker stands for the next process.
    on_each_database(async |jobs| frozen(&jobs, &jobs).await).await;
    if let Some((a, b)) = two_servers().await {
        frozen(&a, &b).await;
    }
}

#[tokio::test]
async fn jobs_of_a_dead_worker_are_tried_again() {
    on_each_database(async |jobs| {
        let (log, never) = (Log::default(), Arc::new(Notify::new()));
        for number in 1..=3 {
            let dies = writers(&jobs, "victim", &log, &never);
            if number == 1 {
                jobs.enqueue(job("a")).await.unwrap();
            }
            until_logged(&log, number).await;
            drop(dies);
        }
        // It is not tried for ever.
        let _last = writers(&jobs, "victim", &log, &never);
        until(&jobs, "failed: the server that ran it stopped without ending it").await;
        assert_eq!(log.len(), 3);
    })
    .await;
}

/// A worker that lives keeps its jobs, however long they take.
#[tokio::test]
async fn leases_are_renewed() {
    let Some((a, b)) = two_servers().await else { return };
    let (log, go) = (Log::default(), Arc::new(Notify::new()));
    // A busy machine renews it late.
    let lease = Duration::from_secs(6);
    let first = started(Workers::with_lease(a.clone(), lease), "first", &log, &go);
    a.enqueue(job("a")).await.unwrap();
    until_logged(&log, 1).await;
    let second = started(Workers::with_lease(b.clone(), lease), "second", &log, &go);
    tokio::time::sleep(lease * 2).await;
    go.notify_one();
    until(&b, "done").await;
    until_logged(&log, 2).await;
    assert_eq!(log.text(), "first begins attempt 1, first: true, true");
    drop((first, second));
}

#[tokio::test]
async fn two_servers_share_the_work_and_no_job_runs_twice() {
    let Some((a, b)) = two_servers().await else { return };
    let log = Log::default();
    // With the usual lease: the other one takes a job over whose end is stored later than that.
    let servers: Vec<_> = [&a, &b].map(|jobs| Workers::new(jobs.clone())).into();
    for workers in &servers {
        workers.add(log.handler());
        workers.start();
    }
    for number in 0..200 {
        let jobs = if number % 2 == 0 { &a } else { &b };
        jobs.enqueue(job(&number.to_string())).await.unwrap();
    }
    until(&a, &["done"; 200].join(", ")).await;
    let mut numbers: Vec<u32> = log.text().split(", ").map(|number| number.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
}

/// Another server is notified, so it does not wait for its next look.
#[tokio::test]
async fn a_job_begins_and_stops_on_another_server() {
    let Some((a, b)) = two_servers().await else { return };
    let (log, never) = (Log::default(), Arc::new(Notify::new()));
    let workers = workers(&b);
    let (noted, wait) = (log.clone(), never.clone());
    workers.add(Handler::new(WORK, move |job, _| {
        let (noted, wait) = (noted.clone(), wait.clone());
        async move {
            noted.add("begins");
            tokio::select! { () = wait.notified() => {} () = job.stop().cancelled() => {} }
            noted.add(format!("{:?}", job.why_stopped()));
            Err(crate::JobError::retry("stopped"))
        }
    }));
    workers.start();
    let enqueued = a.enqueue(job("a")).await.unwrap();
    until_logged(&log, 1).await;
    let queue = a.clone();
    let cancel = a.store().write(move |db| Box::pin(async move { queue.cancel_in(db, enqueued.id()).await }));
    cancel.await.unwrap();
    until(&a, "cancelled").await;
    assert_eq!(log.text(), "begins, Some(Cancelled)");
}
