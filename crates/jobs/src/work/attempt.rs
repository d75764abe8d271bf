//! Runs one attempt of a job and stores its end.

use super::{GRACE, Shared, lease, metrics};
use crate::context::{Attempt, JobContext, StopReason};
use crate::kind::Policy;
use crate::outcome::{End, JobError, Next, Outcome};
use crate::table;
use faults::Point;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::StoreError;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// How often storing an end is tried, and the pause in between. If all fail, the job stays running in
/// the database until the lease is over, and is then tried again.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);

/// The end of a handler.
enum Done {
    /// It returned.
    Returned(Result<Outcome, JobError>),
    /// It panicked, with this message.
    Panicked(String),
    /// It did not stop in time.
    Dropped,
}

/// Runs the handler, and stores how it ended.
pub(super) async fn run(shared: Arc<Shared>, attempt: Arc<Attempt>, payload: String) {
    let begun = Instant::now();
    // The place is free, whatever happens.
    let _place = Place { shared: &shared, attempt: &attempt };
    let handler = shared.handlers.lock().get(attempt.kind.as_str()).cloned();
    let Some(handler) = handler else {
        store_end(&shared, &attempt, End::Released).await;
        return;
    };
    let job = JobContext { attempt: attempt.clone(), jobs: shared.jobs.clone(), draining: shared.draining.clone() };
    let work = AssertUnwindSafe(async { handler.run(job, payload).await }).catch_unwind();
    let done = supervise(work, &attempt, handler.policy.timeout).await;
    faults::point(Point::JobReturned);
    let end = decide(&attempt, &handler.policy, done);
    metrics::record_end(&attempt, &end, begun.elapsed());
    log_end(&attempt, &end);
    store_end(&shared, &attempt, end).await;
    faults::point(Point::JobEnded);
}

/// Frees the place of an attempt.
struct Place<'a> {
    shared: &'a Shared,
    attempt: &'a Attempt,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.shared.running.remove(self.attempt);
    }
}

/// Waits for the handler. One that is told to stop, or takes too long, gets a little more time.
async fn supervise(
    work: impl Future<Output = std::thread::Result<Result<Outcome, JobError>>>,
    attempt: &Attempt,
    limit: Duration,
) -> Done {
    tokio::pin!(work);
    let stopped = tokio::select! {
        done = &mut work => Some(done),
        () = attempt.stop.cancelled() => None,
        () = sleep(limit) => {
            attempt.stop(StopReason::TimedOut);
            None
        }
    };
    let done = match stopped {
        Some(done) => Some(done),
        None => timeout(GRACE, work).await.ok(),
    };
    match done {
        Some(Ok(result)) => Done::Returned(result),
        Some(Err(panic)) => Done::Panicked(panic_message(&*panic)),
        None => Done::Dropped,
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("no message"))
}

/// Decides what follows.
fn decide(attempt: &Attempt, policy: &Policy, done: Done) -> End {
    let why = attempt.why_stopped();
    let error = match done {
        _ if why == Some(StopReason::Lost) => return End::Nothing,
        Done::Returned(Ok(Outcome(end))) => return end,
        Done::Returned(Err(error)) if error.next == Next::Lost => return End::Nothing,
        Done::Returned(Err(error)) => error,
        Done::Panicked(message) => JobError::retry(message),
        Done::Dropped => JobError::retry("it did not stop when it was told to"),
    };
    match why {
        Some(StopReason::Cancelled) => End::Cancelled,
        Some(StopReason::Shutdown) => End::Released,
        Some(StopReason::TimedOut) => {
            let limit = policy.timeout.as_secs_f64();
            after_failure(attempt, policy, JobError::retry(format!("it took longer than {limit} s: {}", error.cause)))
        }
        Some(StopReason::Lost) | None => after_failure(attempt, policy, error),
    }
}

fn after_failure(attempt: &Attempt, policy: &Policy, error: JobError) -> End {
    let pause = match error.next {
        Next::Fail | Next::Lost => return End::Failed(error.cause),
        Next::RetryAfter(pause) => pause,
        Next::Retry => policy.backoff.pause(attempt.number, random()),
    };
    retry_or_fail(attempt.number, policy, pause, error.cause)
}

/// Returns the end of an attempt that failed and may be repeated.
pub(super) fn retry_or_fail(attempt: u32, policy: &Policy, pause: Duration, cause: String) -> End {
    if attempt >= policy.attempts { End::Failed(cause) } else { End::Retry(pause, cause) }
}

/// A random number between 0 and 1.
pub(super) fn random() -> f64 {
    f64::from(u32::from_le_bytes(Uuid::new_v4().as_bytes()[..4].try_into().unwrap_or_default())) / f64::from(u32::MAX)
}

fn log_end(attempt: &Attempt, end: &End) {
    let Attempt { id, kind, number, .. } = attempt;
    match end {
        End::Failed(cause) => tracing::error!(job = id, kind, attempt = number, cause, "a job failed"),
        End::Retry(pause, cause) => {
            tracing::warn!(job = id, kind, attempt = number, cause, again_in = ?pause, "an attempt of a job failed");
        }
        End::Done | End::Again(_) | End::Cancelled | End::Released | End::Nothing => {
            tracing::debug!(job = id, kind, attempt = number, ?end, "an attempt of a job ended");
        }
    }
}

/// Stores the end. While the database fails, it is tried again as long as the job is not lost.
async fn store_end(shared: &Shared, attempt: &Attempt, end: End) {
    if end == End::Nothing {
        return;
    }
    for _ in 0..TRIES {
        let error = match write_end(shared, attempt, end.clone()).await {
            Ok(is_stored) => {
                if !is_stored {
                    tracing::warn!(job = attempt.id, kind = attempt.kind, "a job was lost to another worker");
                }
                return;
            }
            Err(error) => error,
        };
        if !error.is_reported() {
            tracing::warn!(%error, job = attempt.id, kind = attempt.kind, "the end of a job could not be stored");
        }
        if error == StoreError::Closed || attempt.why_stopped() == Some(StopReason::Lost) {
            return;
        }
        sleep(PAUSE).await;
    }
}

async fn write_end(shared: &Shared, attempt: &Attempt, end: End) -> Result<bool, StoreError> {
    let fence = attempt.fence();
    shared.jobs.store().write(move |db| Box::pin(async move { table::end(db, &fence, None, &end).await })).await
}

impl Shared {
    /// Gives back the jobs that still run, so that other workers can take them at once.
    pub(super) async fn release_all(&self) {
        for attempt in self.running.all() {
            attempt.stop(StopReason::Lost);
            if let Err(error) = write_end(self, &attempt, End::Released).await {
                tracing::warn!(%error, job = attempt.id, "a running job could not be given back");
            }
        }
        if let Err(error) = lease::end_lost_attempts(self).await {
            tracing::warn!(%error, "jobs that have lost their task could not be given back");
        }
        self.running.abort_all();
    }
}
