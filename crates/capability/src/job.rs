//! Background work.

use futures::future::BoxFuture;
use jobs::{Handler, JobError, Kind};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Background work of a capability.
#[derive(Clone, Debug)]
pub enum Job {
    /// Jobs of the queue, which one of the servers of a database runs.
    Queued(Handler),
    /// Work that each server repeats: it is about something in its memory, or it mostly finds nothing to
    /// do in the database, and two servers may do it at once.
    OnEachServer(RepeatedJob),
}

impl Job {
    /// Work that is repeated, each time on one of the servers of the database. The first time is an
    /// interval after the first server with the capability has started, the next ones an interval after
    /// the end of the last. `name` has the form `capability.work`: it is stored, and administrators see
    /// it with the cause when the work fails. A server may be killed in the middle, so doing the work
    /// twice must change nothing.
    pub fn recurring<W, F>(name: &'static str, interval: Duration, work: W) -> Self
    where
        W: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let kind = Kind::new(name).attempts(1).timeout(LONGEST);
        Self::Queued(Handler::recurring(kind, interval, move |_| {
            let work = work();
            async move { work.await.map_err(JobError::from) }
        }))
    }

    /// Jobs that the capability enqueues itself.
    pub fn handler(handler: Handler) -> Self {
        Self::Queued(handler)
    }

    /// Work that each server repeats in its own process: an interval after it has started, and again an
    /// interval after the work ended. The name is for the log.
    pub fn on_each_server<W, F>(name: &'static str, interval: Duration, work: W) -> Self
    where
        W: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        Self::OnEachServer(RepeatedJob { name, interval, work: Arc::new(move || Box::pin(work())) })
    }
}

/// How long a run of recurring work may take.
const LONGEST: Duration = Duration::from_secs(3600);

/// Work that each server repeats until it is told to stop, which cancels it: running answers are still
/// finished after that.
#[derive(Clone)]
pub struct RepeatedJob {
    name: &'static str,
    interval: Duration,
    work: Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>,
}

impl RepeatedJob {
    /// Repeats the work until `stop` is cancelled, which also ends work that has begun. An error or
    /// a panic is logged, and the work is tried again after the interval.
    pub async fn repeat(self, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(self.interval)).await.is_some() {
            let work = tokio_util::task::AbortOnDropHandle::new(tokio::spawn((self.work)()));
            match stop.run_until_cancelled(work).await {
                Some(Ok(Ok(()))) => {}
                Some(Ok(Err(error))) => tracing::error!(job = self.name, %error, "background work failed"),
                Some(Err(error)) => tracing::error!(job = self.name, %error, "background work panicked"),
                None => return,
            }
        }
    }
}

/// Formats the name and the interval.
impl fmt::Debug for RepeatedJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepeatedJob")
            .field("name", &self.name)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jobs::{JobFilter, Jobs, Workers};
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use store::Store;

    #[tokio::test(start_paused = true)]
    async fn work_is_repeated_after_errors_and_panics_until_it_is_stopped() {
        static ROUNDS: AtomicU32 = AtomicU32::new(0);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let job = Job::on_each_server("test", Duration::from_secs(60), move || {
            let stop = stopped.clone();
            async move {
                match ROUNDS.fetch_add(1, Relaxed) {
                    0 => anyhow::bail!("the first one fails"),
                    1 => panic!("the second one panics"),
                    2 => Ok(()),
                    _ => {
                        stop.cancel();
                        std::future::pending().await
                    }
                }
            }
        });
        let Job::OnEachServer(job) = job else { panic!() };
        job.repeat(stop).await;
        assert_eq!(ROUNDS.load(Relaxed), 4);
    }

    #[tokio::test]
    async fn recurring_work_is_a_job_that_goes_on_after_errors_and_panics() {
        static ROUNDS: AtomicU32 = AtomicU32::new(0);
        let workers = Workers::new(Jobs::new(Store::open("sqlite::memory:").await.unwrap()));
        let job = Job::recurring("test.work", Duration::from_millis(10), || async {
            match ROUNDS.fetch_add(1, Relaxed) {
                0 => anyhow::bail!("the first one fails"),
                1 => panic!("the second one panics"),
                _ => Ok(()),
            }
        });
        let Job::Queued(handler) = job else { panic!() };
        workers.add(handler);
        workers.start();
        while ROUNDS.load(Relaxed) < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let filter = JobFilter { kind: Some("test.work".to_owned()), ..JobFilter::default() };
        let rows = workers.jobs().list(filter, 10).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.every_ms).collect::<Vec<_>>(), [Some(10)]);
        workers.shutdown(Duration::from_secs(5)).await;
    }
}
