//! Tests of the whole queue, on each database.

mod attempts;
mod enqueue;
mod fairness;
mod kill;
mod model;
mod servers;
mod stops;
mod upkeep;

use crate::{Handler, JobContext, JobError, JobFilter, JobRow, Jobs, Kind, NewJob, Outcome, Workers};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::Store;

/// A kind for tests: three attempts without pauses.
const WORK: Kind<String> =
    Kind::new("test.work").attempts(3).backoff(crate::Backoff { base: Duration::ZERO, cap: Duration::ZERO });

/// Short, for tests that wait until it has ended. Where several workers live, a busy machine may end it early.
const LEASE: Duration = Duration::from_millis(600);

/// How long to wait for what is to happen.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a test with a new queue on each database.
async fn on_each_database(test: impl AsyncFn(Jobs)) {
    let store = Store::open("sqlite::memory:").await.unwrap();
    test(Jobs::new(store)).await;
    if let Some(url) = test_postgres::new_database().await {
        let store = Store::open(&url).await.unwrap();
        test(Jobs::new(store.clone())).await;
        store.close().await;
    }
}

fn workers(jobs: &Jobs) -> Workers {
    Workers::with_lease(jobs.clone(), LEASE)
}

fn job(text: &str) -> NewJob {
    WORK.job(&text.to_owned())
}

/// The runs of handlers, in their order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl ToString) {
        self.0.lock().push(line.to_string());
    }

    fn text(&self) -> String {
        self.0.lock().join(", ")
    }

    fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// A handler that notes the payload.
    fn handler(&self) -> Handler {
        let log = self.clone();
        Handler::new(WORK, move |_, text| {
            log.add(text);
            std::future::ready(Ok(Outcome::DONE))
        })
    }

    /// A handler that notes the number of the attempt and returns what `end` says.
    fn attempts(&self, end: impl Fn(&JobContext) -> Result<Outcome, JobError> + Send + Sync + 'static) -> Handler {
        let log = self.clone();
        Handler::new(WORK, move |job, _| {
            log.add(job.attempt());
            std::future::ready(end(&job))
        })
    }
}

/// The jobs of the kind for tests, the oldest first, as `STATE` or `STATE: CAUSE`.
async fn states(jobs: &Jobs) -> String {
    let mut rows = rows(jobs).await;
    rows.reverse();
    let show = |row: &JobRow| match &row.error {
        Some(error) => format!("{}: {error}", row.state.name()),
        None => row.state.name().to_owned(),
    };
    rows.iter().map(show).collect::<Vec<_>>().join(", ")
}

async fn rows(jobs: &Jobs) -> Vec<JobRow> {
    let filter = JobFilter { kind: Some(WORK.name().to_owned()), ..JobFilter::default() };
    jobs.list(filter, 1_000).await.unwrap()
}

/// Waits until the jobs have these states.
async fn until(jobs: &Jobs, expected: &str) {
    let begun = Instant::now();
    loop {
        let found = states(jobs).await;
        if found == expected {
            return;
        }
        assert!(begun.elapsed() < TIMEOUT, "{found}, not {expected}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a log has this many lines.
async fn until_logged(log: &Log, lines: usize) {
    let begun = Instant::now();
    while log.len() < lines {
        assert!(begun.elapsed() < TIMEOUT, "{} of {lines}: {}", log.len(), log.text());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Changes the table as nothing else does.
async fn change(jobs: &Jobs, statement: &'static str) {
    let write = jobs
        .store()
        .write(move |db| Box::pin(async move { Ok(store::sql::query(statement).execute(db).await.map(drop)?) }));
    write.await.unwrap();
}
