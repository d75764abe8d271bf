//! Attempts: how they end, and what follows.

use super::{Log, WORK, change, job, on_each_database, rows, states, until, until_logged, workers};
use crate::{Due, Handler, JobError, Kind, Outcome};
use std::time::Duration;
use store::StoreError;
use store::sql;

#[tokio::test]
async fn a_failed_job_is_tried_again_and_fails_with_its_cause() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.attempts(|job| match job.attempt() {
            1 => Err(anyhow::anyhow!("inner").context("outer").into()),
            2 => panic!("on purpose"),
            _ => Err(JobError::retry("no luck")),
        }));
        workers.start();
        jobs.enqueue(job("a")).await.unwrap();
        until(&jobs, "failed: no luck").await;
        assert_eq!(log.text(), "1, 2, 3");
        assert_eq!(rows(&jobs).await[0].attempts, 3);
    })
    .await;
}

#[tokio::test]
async fn the_cause_of_the_last_failure_is_seen_until_the_next_attempt_ends() {
    on_each_database(async |jobs| {
        let check = async |end: fn() -> Result<Outcome, JobError>, expected: &str| {
            change(&jobs, "DELETE FROM jobs").await;
            let (workers, log) = (workers(&jobs), Log::default());
            workers.add(log.attempts(move |_| end()));
            workers.start();
            jobs.enqueue(job("a")).await.unwrap();
            // It waits before its attempt, too.
            until_logged(&log, 1).await;
            until(&jobs, expected).await;
            workers.shutdown(Duration::from_secs(5)).await;
        };
        check(|| Ok(Outcome::DONE), "done").await;
        check(|| Err(JobError::fail("never")), "failed: never").await;
        check(|| panic!("on purpose"), "failed: it panicked: on purpose").await;
        check(|| Err(JobError::retry_after(Duration::from_secs(3600), "busy")), "waiting: busy").await;
        let wait = rows(&jobs).await[0].due_at - rows(&jobs).await[0].started_at.unwrap();
        assert!((3_600_000..3_700_000).contains(&wait), "{wait}");
        check(|| Ok(Outcome::again(Due::After(Duration::from_secs(3600)))), "waiting").await;
        assert_eq!(rows(&jobs).await[0].attempts, 0);
        check(|| Ok(Outcome::again(Due::At(i64::MAX / 2))), "waiting").await;
        assert_eq!(rows(&jobs).await[0].due_at, i64::MAX / 2);
    })
    .await;
}

#[tokio::test]
async fn a_payload_of_another_shape_fails_at_once() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.handler());
        workers.start();
        jobs.enqueue(Kind::<u32>::new(WORK.name()).job(&7)).await.unwrap();
        let cause = "its payload cannot be read: invalid type: integer `7`, expected a string at line 1 column 1";
        until(&jobs, &format!("failed: {cause}")).await;
        assert_eq!(log.text(), "");
    })
    .await;
}

#[tokio::test]
async fn an_attempt_that_takes_too_long_fails() {
    on_each_database(async |jobs| {
        let workers = workers(&jobs);
        workers.add(Handler::new(WORK.attempts(1).timeout(Duration::from_millis(50)), |job, _| async move {
            job.stop().cancelled().await;
            Err(JobError::retry("it stopped"))
        }));
        workers.start();
        jobs.enqueue(job("a")).await.unwrap();
        until(&jobs, "failed: it took longer than 0.05 s: it stopped").await;
    })
    .await;
}

/// The writes of a handler and the end of its job are stored together or not at all.
#[tokio::test]
async fn a_handler_can_write_and_end_its_job_in_one_transaction() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        let noted = log.clone();
        workers.add(Handler::new(WORK, move |job, _| {
            let noted = noted.clone();
            async move {
                noted.add(job.attempt());
                let is_first = job.attempt() == 1;
                let finished = job.finish(Outcome::DONE, move |db| {
                    Box::pin(async move {
                        let mark = "UPDATE jobs SET payload = 'marked' WHERE kind = 'test.work'";
                        sql::query(mark).execute(db).await?;
                        if is_first { Err(StoreError::Invalid("the write fails")) } else { Ok(()) }
                    })
                });
                Ok(finished.await?)
            }
        }));
        workers.start();
        jobs.enqueue(job("a")).await.unwrap();
        until(&jobs, "done").await;
        assert_eq!(log.text(), "1, 2");
        let find = "SELECT payload FROM jobs WHERE kind = 'test.work'";
        let payload = jobs
            .store()
            .read(move |db| Box::pin(async move { Ok(sql::query_scalar::<String>(find).fetch_one(db).await?) }));
        assert_eq!(payload.await.unwrap(), "marked");
    })
    .await;
}

#[tokio::test]
async fn no_more_jobs_of_a_kind_run_at_once_than_it_allows() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        let (noted, counted) = (log.clone(), workers.clone());
        workers.add(Handler::new(WORK.concurrency(3), move |_, _| {
            let (noted, counted) = (noted.clone(), counted.clone());
            async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                assert!(counted.running() <= 4, "{} with the upkeep's own", counted.running());
                noted.add("x");
                Ok(Outcome::DONE)
            }
        }));
        for _ in 0..20 {
            jobs.enqueue(job("a")).await.unwrap();
        }
        workers.start();
        until_logged(&log, 20).await;
        until(&jobs, &["done"; 20].join(", ")).await;
        workers.shutdown(Duration::from_secs(5)).await;
    })
    .await;
}

#[tokio::test]
async fn jobs_of_unknown_kinds_wait_and_are_shown() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        workers.start();
        jobs.enqueue(job("a")).await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(states(&jobs).await, "waiting");
        assert!(!rows(&jobs).await[0].known);
        workers.add(log.handler());
        until(&jobs, "done").await;
        assert!(rows(&jobs).await[0].known);
    })
    .await;
}
