//! Cancelling, retrying by operators, users who are deleted, and the shutdown.

use super::{Log, WORK, change, job, on_each_database, states, until, until_logged, workers};
use crate::{CancelOutcome, Handler, JobContext, JobError, Jobs, Outcome, StopReason};
use std::time::Duration;
use store::StoreError;

/// A handler that runs until it is told to stop, and notes why.
fn until_stopped(log: &Log) -> Handler {
    let log = log.clone();
    Handler::new(WORK, move |job: JobContext, text| {
        let log = log.clone();
        async move {
            log.add(format!("{text} begins"));
            job.stop().cancelled().await;
            log.add(format!("{text}: {:?}", job.why_stopped().unwrap()));
            Err(JobError::retry("stopped"))
        }
    })
}

async fn cancel(jobs: &Jobs, id: &str) -> CancelOutcome {
    let (queue, id) = (jobs.clone(), id.to_owned());
    jobs.store().write(move |db| Box::pin(async move { queue.cancel_in(db, &id).await })).await.unwrap()
}

async fn retry(jobs: &Jobs, id: &str) -> Result<bool, StoreError> {
    let (queue, id) = (jobs.clone(), id.to_owned());
    jobs.store().write(move |db| Box::pin(async move { queue.retry_in(db, &id).await })).await
}

#[tokio::test]
async fn operators_cancel_and_retry() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(until_stopped(&log));
        let waiting = jobs.enqueue(job("a").key("k")).await.unwrap();
        assert_eq!(cancel(&jobs, waiting.id()).await, CancelOutcome::Cancelled);
        assert_eq!(cancel(&jobs, waiting.id()).await, CancelOutcome::NotPending);
        assert_eq!(cancel(&jobs, "unknown").await, CancelOutcome::NotPending);
        assert_eq!(states(&jobs).await, "cancelled");
        workers.start();
        let running = jobs.enqueue(job("b").key("k")).await.unwrap();
        until_logged(&log, 1).await;
        let taken = StoreError::Invalid("another job with the same key waits or runs");
        assert_eq!(retry(&jobs, waiting.id()).await, Err(taken));
        assert_eq!(retry(&jobs, running.id()).await, Ok(false), "it runs");
        assert_eq!(cancel(&jobs, running.id()).await, CancelOutcome::Stopping);
        until(&jobs, "cancelled, cancelled").await;
        assert_eq!(retry(&jobs, waiting.id()).await, Ok(true));
        until_logged(&log, 3).await;
        assert_eq!(cancel(&jobs, waiting.id()).await, CancelOutcome::Stopping);
        until(&jobs, "cancelled, cancelled").await;
        assert_eq!(log.text(), "b begins, b: Cancelled, a begins, a: Cancelled");
        workers.add(Handler::new(WORK, |_, _| async { Ok(Outcome::DONE) }));
        assert_eq!(retry(&jobs, waiting.id()).await, Ok(true));
        until(&jobs, "done, cancelled").await;
        assert_eq!(retry(&jobs, waiting.id()).await, Ok(false), "it is done");
    })
    .await;
}

#[tokio::test]
async fn jobs_of_a_deleted_user_stop() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(until_stopped(&log));
        workers.start();
        jobs.enqueue(job("a").owner("ada")).await.unwrap();
        jobs.enqueue(job("b").owner("bob")).await.unwrap();
        until_logged(&log, 2).await;
        jobs.enqueue(job("c").owner("ada").due(crate::Due::At(i64::MAX / 2))).await.unwrap();
        jobs.cancel_owner("ada").await.unwrap();
        until(&jobs, "cancelled, running, cancelled").await;
        // As with the user's row: a job that runs nevertheless is lost.
        change(&jobs, "DELETE FROM jobs WHERE owner = 'bob'").await;
        until_logged(&log, 4).await;
        assert!(log.text().ends_with("a: Cancelled, b: Lost"), "{}", log.text());
    })
    .await;
}

#[tokio::test]
async fn a_shutdown_waits_and_then_gives_jobs_back() {
    on_each_database(async |jobs| {
        let (first, log) = (workers(&jobs), Log::default());
        first.add(until_stopped(&log));
        first.start();
        jobs.enqueue(job("a")).await.unwrap();
        until_logged(&log, 1).await;
        first.shutdown(Duration::from_millis(10)).await;
        assert_eq!(states(&jobs).await, "waiting");
        assert_eq!(log.text(), "a begins, a: Shutdown");
        let (second, log) = (workers(&jobs), Log::default());
        second.add(log.attempts(|_| Ok(Outcome::DONE)));
        second.start();
        until(&jobs, "done").await;
        assert_eq!(log.text(), "1", "the attempt that was given back does not count");
        jobs.enqueue(job("b")).await.unwrap();
        second.shutdown(Duration::from_secs(5)).await;
        assert!(!states(&jobs).await.contains("running"));
    })
    .await;
}

#[tokio::test]
async fn the_reason_of_a_stop_is_the_first_one_unless_the_job_is_lost() {
    let (workers, log) = (workers(&Jobs::new(store::Store::open("sqlite::memory:").await.unwrap())), Log::default());
    let noted = log.clone();
    workers.add(Handler::new(WORK, move |job, _| {
        for reason in [StopReason::Shutdown, StopReason::Cancelled, StopReason::Lost] {
            job.attempt.stop(reason);
            noted.add(format!("{:?}", job.why_stopped().unwrap()));
        }
        std::future::ready(Ok(Outcome::DONE))
    }));
    workers.start();
    workers.jobs().enqueue(job("a")).await.unwrap();
    until_logged(&log, 3).await;
    assert_eq!(log.text(), "Shutdown, Shutdown, Lost");
}
