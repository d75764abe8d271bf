//! Owners take turns, however many jobs one of them has.

use super::{Log, WORK, change, job, on_each_database, rows, until, until_logged, workers};
use crate::{Due, Handler, JobContext, JobError, Outcome};
use std::time::Duration;

/// A handler that notes whose job it runs, one job at a time.
fn one_by_one(log: &Log) -> Handler {
    let log = log.clone();
    Handler::new(WORK.concurrency(1), move |job: JobContext, _| {
        log.add(job.owner().unwrap_or("server"));
        std::future::ready(Ok::<_, JobError>(Outcome::DONE))
    })
}

/// Adds jobs that are due since the beginning.
const TEN_THOUSAND_OF_ADA: &str = "
    WITH RECURSIVE numbers (no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM numbers WHERE no < 10000)
    INSERT INTO jobs (id, kind, owner, payload, due_at, created_at)
    SELECT 'ada-' || no, 'test.work', 'ada', '\"\"', no, 0 FROM numbers";

/// Jobs of many users that are due in the far future.
const TWO_THOUSAND_LATER: &str = "
    WITH RECURSIVE numbers (no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM numbers WHERE no < 2000)
    INSERT INTO jobs (id, kind, owner, payload, due_at, created_at)
    SELECT 'later-' || no, 'test.work', 'later-' || no, '\"\"', 9000000000000000, 0 FROM numbers";

#[tokio::test]
async fn an_owner_with_ten_thousand_jobs_does_not_delay_those_of_others() {
    on_each_database(async |jobs| {
        change(&jobs, TEN_THOUSAND_OF_ADA).await;
        for owner in ["bob", "carol", "bob"] {
            jobs.enqueue(job("a").owner(owner)).await.unwrap();
        }
        jobs.enqueue(job("a")).await.unwrap();
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(one_by_one(&log));
        workers.start();
        until_logged(&log, 8).await;
        workers.shutdown(Duration::from_secs(5)).await;
        let first: Vec<_> = log.text().split(", ").take(8).map(str::to_owned).collect();
        assert_eq!(first.join(" "), "ada bob carol server ada bob ada ada");
    })
    .await;
}

/// Whoever has jobs that are not due has no turn, and finding that out has a bound for each claim.
#[tokio::test]
async fn owners_whose_jobs_are_not_due_have_no_turn() {
    on_each_database(async |jobs| {
        change(&jobs, TEN_THOUSAND_OF_ADA).await;
        change(&jobs, TWO_THOUSAND_LATER).await;
        jobs.enqueue(job("a").owner("zoe")).await.unwrap();
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(one_by_one(&log));
        workers.start();
        until_logged(&log, 12).await;
        workers.shutdown(Duration::from_secs(5)).await;
        let first: Vec<_> = log.text().split(", ").take(12).map(str::to_owned).collect();
        assert_eq!(first.iter().filter(|owner| *owner == "zoe").count(), 1, "{first:?}");
        assert!(first.iter().all(|owner| owner == "zoe" || owner == "ada"), "{first:?}");
    })
    .await;
}

/// As long as there is a place for each, the longest due is first.
#[tokio::test]
async fn jobs_that_all_have_a_place_begin_in_the_order_of_their_due_times() {
    on_each_database(async |jobs| {
        for (text, due_at) in [("c", 3), ("a", 1), ("b", 2)] {
            jobs.enqueue(job(text).owner("ada").due(Due::At(due_at))).await.unwrap();
        }
        let (workers, log) = (workers(&jobs), Log::default());
        workers.add(log.handler());
        workers.start();
        until(&jobs, "done, done, done").await;
        assert_eq!((log.text().as_str(), rows(&jobs).await.len()), ("a, b, c", 3));
    })
    .await;
}
