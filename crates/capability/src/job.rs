//! Background work.

use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Background work that is repeated until the server is told to stop, which cancels it: running
/// answers are still finished after that.
///
/// Every server of a database does it, and a server may be killed in the middle. So the work is
/// found by a query over what is due, and doing it twice changes nothing.
#[derive(Clone)]
pub struct Job {
    name: &'static str,
    interval: Duration,
    work: Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>,
}

impl Job {
    /// Describes work that begins an interval after the server has started, and again an interval
    /// after it ended. The name is for the log.
    pub fn new<W, F>(name: &'static str, interval: Duration, work: W) -> Self
    where
        W: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        Self { name, interval, work: Arc::new(move || Box::pin(work())) }
    }

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
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).field("interval", &self.interval).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[tokio::test(start_paused = true)]
    async fn work_is_repeated_after_errors_and_panics_until_it_is_stopped() {
        static ROUNDS: AtomicU32 = AtomicU32::new(0);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let job = Job::new("test", Duration::from_secs(60), move || {
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
        job.repeat(stop).await;
        assert_eq!(ROUNDS.load(Relaxed), 4);
    }
}
