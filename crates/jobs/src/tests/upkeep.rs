//! Recurring jobs, clocks that are set, and old jobs.

use super::{Log, WORK, change, job, on_each_database, rows, states, until, until_logged, workers};
use crate::{Due, Handler, JobCount, JobError, JobFilter, JobState, Kind, Workers};
use std::time::Duration;

const EVERY: Kind<()> = Kind::new("test.work").attempts(1);

fn recurring(log: &Log, every: Duration) -> Handler {
    let log = log.clone();
    Handler::recurring(EVERY, every, move |job| {
        log.add(job.attempt());
        std::future::ready(if log.len() == 2 { Err(JobError::retry("no luck")) } else { Ok(()) })
    })
}

#[tokio::test]
async fn a_recurring_job_is_one_row_and_goes_on_after_a_failure() {
    on_each_database(async |jobs| {
        let log = Log::default();
        let first = workers(&jobs);
        first.add(recurring(&log, Duration::from_millis(30)));
        first.start();
        until_logged(&log, 4).await;
        first.shutdown(Duration::from_secs(5)).await;
        assert_eq!(states(&jobs).await, "waiting");
        let id = rows(&jobs).await[0].id.clone();
        // Another start finds it, and a new interval counts.
        let second = workers(&jobs);
        second.add(recurring(&log, Duration::from_secs(3600)));
        second.start();
        let is_changed = async || rows(&jobs).await[0].every_ms == Some(3_600_000);
        while !is_changed().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(rows(&jobs).await[0].id, id);
        assert_eq!(rows(&jobs).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn recurring_job_that_was_cancelled_stays_so_over_a_restart() {
    on_each_database(async |jobs| {
        let log = Log::default();
        let first = workers(&jobs);
        first.add(recurring(&log, Duration::from_secs(3600)));
        first.start();
        until(&jobs, "waiting").await;
        first.shutdown(Duration::from_secs(5)).await;
        let id = rows(&jobs).await[0].id.clone();
        let cancel = id.clone();
        jobs.store().write(move |db| Box::pin(async move { crate::table::cancel(db, &cancel).await })).await.unwrap();
        let second = workers(&jobs);
        second.add(recurring(&log, Duration::from_secs(3600)));
        second.add(Handler::recurring(Kind::<()>::new("test.other"), Duration::from_secs(3600), |_| {
            std::future::ready(Ok::<(), JobError>(()))
        }));
        second.start();
        // The other kind was looked at, too.
        while jobs.list(JobFilter::default(), 10).await.unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        second.shutdown(Duration::from_secs(5)).await;
        let third = workers(&jobs);
        third.add(recurring(&log, Duration::from_secs(3600)));
        third.start();
        third.shutdown(Duration::from_secs(5)).await;
        let found = rows(&jobs).await;
        let own: Vec<_> = found.iter().filter(|row| row.kind == "test.work").map(|row| (&row.id, row.state)).collect();
        assert_eq!(own, [(&id, JobState::Cancelled)]);
        // An operator lets it go on.
        jobs.store().write(move |db| Box::pin(async move { crate::table::retry(db, &id).await })).await.unwrap();
        assert!(rows(&jobs).await.iter().any(|row| row.kind == "test.work" && row.state == JobState::Waiting));
    })
    .await;
}

/// Jobs with a delay are as if they had been enqueued when the clock was an hour ahead.
#[tokio::test]
async fn delays_end_although_the_clock_was_set_back() {
    on_each_database(async |jobs| {
        jobs.enqueue(job("delayed").due(Due::After(Duration::from_millis(10)))).await.unwrap();
        jobs.enqueue(job("chosen").due(Due::At(i64::MAX / 2))).await.unwrap();
        change(&jobs, "UPDATE jobs SET due_at = due_at + 3600000, delayed_at = delayed_at + 3600000").await;
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.handler());
        workers.start();
        until(&jobs, "done, waiting").await;
        assert_eq!(log.text(), "delayed");
    })
    .await;
}

#[tokio::test]
async fn old_jobs_are_deleted() {
    on_each_database(async |jobs| {
        for _ in 0..4 {
            jobs.enqueue(job("a").due(Due::At(i64::MAX / 2))).await.unwrap();
        }
        change(&jobs, "UPDATE jobs SET state = 'done', ended_at = 1 WHERE id = (SELECT min(id) FROM jobs)").await;
        change(&jobs, "UPDATE jobs SET state = 'failed', ended_at = 1 WHERE id = (SELECT min(id) FROM jobs WHERE state = 'waiting')").await;
        change(&jobs, "UPDATE jobs SET state = 'done', ended_at = 99999999999999 WHERE id = (SELECT min(id) FROM jobs WHERE state = 'waiting')").await;
        assert_eq!(states(&jobs).await, "done, failed, done, waiting");
        assert!(!jobs.store().write(|db| Box::pin(crate::table::prune(db))).await.unwrap());
        assert_eq!(states(&jobs).await, "done, waiting");
    })
    .await;
}

#[tokio::test]
async fn the_status_counts_jobs_and_tells_how_late_they_are() {
    on_each_database(async |jobs| {
        assert_eq!(jobs.status().await.unwrap(), crate::QueueStatus::default());
        jobs.enqueue(job("a").due(Due::After(Duration::from_secs(60)))).await.unwrap();
        let count = |jobs| JobCount { kind: WORK.name().to_owned(), state: JobState::Waiting, jobs };
        let status = jobs.status().await.unwrap();
        assert_eq!((status.counts, status.oldest_due_ms), (vec![count(1)], None));
        jobs.enqueue(job("b").due(Due::At(0))).await.unwrap();
        let status = jobs.status().await.unwrap();
        assert_eq!(status.counts, [count(2)]);
        assert!(status.oldest_due_ms.unwrap() > 1_000_000_000_000);
    })
    .await;
}

/// Handlers know only the queue, so the workers are dropped with their last handle.
#[tokio::test]
async fn dropped_workers_take_no_jobs() {
    on_each_database(async |jobs| {
        let log = Log::default();
        let dropped: Workers = workers(&jobs);
        dropped.add(log.handler());
        dropped.start();
        drop(dropped);
        jobs.enqueue(job("a")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(states(&jobs).await, "waiting");
    })
    .await;
}
