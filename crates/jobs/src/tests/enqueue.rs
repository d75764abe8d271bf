//! Enqueueing: transactions, due times, keys and bounds.

use super::{Log, WORK, change, job, on_each_database, rows, states, until, until_logged, workers};
use crate::{Due, Enqueued, Handler, Jobs, Kind, MAX_KEY, MAX_PAYLOAD, NewJob, OnPending, Outcome};
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use tokio::sync::Notify;

#[tokio::test]
async fn a_job_is_stored_and_begun_with_the_transaction_of_its_caller() {
    on_each_database(async |jobs| {
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.handler());
        workers.start();
        let queue = jobs.clone();
        let undone = jobs.store().write(move |db| {
            Box::pin(async move {
                queue.enqueue_in(db, job("undone")).await?;
                Err::<(), _>(StoreError::Invalid("on purpose"))
            })
        });
        assert_eq!(undone.await, Err(StoreError::Invalid("on purpose")));
        let queue = jobs.clone();
        let done = jobs.store().write(move |db| Box::pin(async move { queue.enqueue_in(db, job("done")).await }));
        done.await.unwrap();
        until(&jobs, "done").await;
        assert_eq!(log.text(), "done");
    })
    .await;
}

#[tokio::test]
async fn jobs_run_when_they_are_due_and_the_longest_due_first() {
    on_each_database(async |jobs| {
        let far = Due::After(Duration::from_secs(3600));
        for (text, due) in [("c", Due::Now), ("later", far), ("b", Due::At(20)), ("a", Due::At(10))] {
            jobs.enqueue(job(text).due(due)).await.unwrap();
        }
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.handler());
        workers.start();
        until(&jobs, "done, waiting, done, done").await;
        assert_eq!(log.text(), "a, b, c");
        jobs.enqueue(job("soon").due(Due::After(Duration::from_millis(50)))).await.unwrap();
        until(&jobs, "done, waiting, done, done, done").await;
    })
    .await;
}

/// Enqueues a job with the key `k` at `due`; returns the due times and payloads that wait then.
async fn keyed(jobs: &Jobs, text: &str, due: i64, on_pending: OnPending) -> String {
    let enqueued = jobs.enqueue(job(text).key("k").due(Due::At(due)).on_pending(on_pending)).await.unwrap();
    let is_new = matches!(enqueued, Enqueued::New(_));
    let rows = rows(jobs).await;
    let due: Vec<_> = rows.iter().map(|row| row.due_at.to_string()).collect();
    format!("{} {}", if is_new { "new" } else { "pending" }, due.join(" "))
}

#[tokio::test]
async fn one_job_with_a_key_waits() {
    on_each_database(async |jobs| {
        assert_eq!(keyed(&jobs, "a", 100, OnPending::Earlier).await, "new 100");
        assert_eq!(keyed(&jobs, "b", 200, OnPending::Earlier).await, "pending 100");
        assert_eq!(keyed(&jobs, "c", 50, OnPending::Earlier).await, "pending 50");
        assert_eq!(keyed(&jobs, "d", 300, OnPending::Replace).await, "pending 300");
        assert_eq!(keyed(&jobs, "e", 10, OnPending::Keep).await, "pending 300");
        let other = jobs.enqueue(job("f").key("k").owner("ada")).await;
        assert_eq!(other, Err(StoreError::Invalid("a job of another user has this key")));
        let other = jobs.enqueue(job("f").key("k").owner("ada").on_pending(OnPending::Keep)).await;
        assert_eq!(other, Err(StoreError::Invalid("a job of another user has this key")));
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.handler());
        workers.start();
        until(&jobs, "done").await;
        assert_eq!(log.text(), "d", "the newest payload that was not kept out");
        assert!(matches!(jobs.enqueue(job("g").key("k")).await, Ok(Enqueued::New(_))), "the first one has ended");
        until(&jobs, "done, done").await;
    })
    .await;
}

#[tokio::test]
async fn a_job_that_is_enqueued_while_it_runs_is_repeated_and_never_runs_twice_at_once() {
    on_each_database(async |jobs| {
        let (workers, log, go) = (workers(&jobs), Log::default(), Arc::new(Notify::new()));
        let (noted, wait) = (log.clone(), go.clone());
        workers.add(Handler::new(WORK, move |_, text| {
            let (noted, wait) = (noted.clone(), wait.clone());
            async move {
                noted.add(format!("{text} begins"));
                wait.notified().await;
                noted.add(format!("{text} ends"));
                Ok(Outcome::DONE)
            }
        }));
        workers.start();
        let enqueue = async |text: &str| jobs.enqueue(job(text).key("k")).await.unwrap();
        let Enqueued::New(id) = enqueue("a").await else { panic!() };
        until_logged(&log, 1).await;
        assert_eq!(enqueue("b").await, Enqueued::Pending(id.clone()));
        assert_eq!(enqueue("c").await, Enqueued::Pending(id));
        assert_eq!(states(&jobs).await, "running");
        go.notify_one();
        until_logged(&log, 3).await;
        go.notify_one();
        until(&jobs, "done").await;
        assert_eq!(log.text(), "a begins, a ends, c begins, c ends");
    })
    .await;
}

#[tokio::test]
async fn a_job_can_be_run_by_the_process_that_enqueues_it() {
    on_each_database(async |jobs| {
        let (here, log) = (workers(&jobs), Log::default());
        here.start();
        here.add(log.handler());
        let far = Due::At(i64::MAX / 2);
        here.run_here(job("a").due(far).key("k")).await.unwrap();
        until(&jobs, "done").await;
        assert_eq!(log.text(), "a");
        // The place of the first job is free a moment after its end is stored, so other workers go on.
        here.shutdown(Duration::from_secs(60)).await;
        let here = workers(&jobs);
        // Without a free place, it waits for its due time and any process.
        here.add(Handler::new(WORK.concurrency(1), |job, _| async move {
            job.stop().cancelled().await;
            Ok(Outcome::DONE)
        }));
        here.run_here(job("b").due(far)).await.unwrap();
        here.run_here(job("c").due(far)).await.unwrap();
        assert_eq!(states(&jobs).await, "done, running, waiting");
    })
    .await;
}

#[tokio::test]
async fn jobs_are_bounded() {
    const FEW: Kind<String> = Kind::new("test.work").max_waiting(2);
    on_each_database(async |jobs| {
        let check = async |job: NewJob, expected: &'static str| {
            assert_eq!(jobs.enqueue(job).await, Err(StoreError::Invalid(expected)));
        };
        check(job(&"x".repeat(MAX_PAYLOAD)), "the payload of a job is too large").await;
        check(job("x").key("k".repeat(MAX_KEY + 1)), "the key of a job is too long").await;
        jobs.enqueue(FEW.job(&"a".to_owned())).await.unwrap();
        jobs.enqueue(FEW.job(&"b".to_owned())).await.unwrap();
        check(FEW.job(&"c".to_owned()), "too many jobs of this kind wait").await;
        change(&jobs, "DELETE FROM jobs").await;
        jobs.status().await.unwrap();
        jobs.enqueue(FEW.job(&"c".to_owned())).await.unwrap();
    })
    .await;
}
