//! The workers of a process: tasks that claim due jobs and run them.

mod attempt;
mod claims;
mod lease;
mod metrics;
mod running;
mod upkeep;

use crate::handler::Handler;
use crate::kind::Policy;
use crate::queue::Jobs;
use crate::table::Turns;
use crate::{Enqueued, Kind, NewJob, StopReason};
use futures::FutureExt;
use parking_lot::Mutex;
use running::RunningJobs;
use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use uuid::Uuid;

/// How long a handler that was told to stop may go on before it is dropped.
const GRACE: Duration = Duration::from_secs(10);

/// How long the shutdown waits for handlers that it told to stop.
const LAST_GRACE: Duration = Duration::from_secs(3);

/// Runs the jobs of the kinds that it has handlers for. Dropping the last handle ends all of them as
/// if the process had died; [`Workers::shutdown`] is the orderly way.
#[derive(Clone)]
pub struct Workers(Arc<Owner>);

/// Owns the tasks, which know only [`Shared`].
struct Owner {
    shared: Arc<Shared>,
    tasks: Mutex<Option<Tasks>>,
}

struct Tasks {
    claims: AbortOnDropHandle<()>,
    _others: AbortOnDropHandle<()>,
}

/// The state that the tasks share.
struct Shared {
    jobs: Jobs,
    /// The name of these workers in the database: no two processes have the same, not even a process
    /// and the one that it replaces.
    id: String,
    /// How long a job stays with a worker that gives no sign of life.
    lease: Duration,
    handlers: Mutex<HashMap<&'static str, Handler>>,
    /// Whose turn it is, if jobs of several owners wait for places.
    turns: Mutex<Turns>,
    /// A handler was added.
    added: Notify,
    running: RunningJobs,
    attempts: TaskTracker,
    /// No more jobs are taken.
    draining: CancellationToken,
}

impl Workers {
    /// Workers for a queue, which do not run yet.
    pub fn new(jobs: Jobs) -> Self {
        Self::with_lease(jobs, lease::LEASE)
    }

    /// Workers that lose their jobs after `lease` without a sign of life.
    pub(crate) fn with_lease(jobs: Jobs, lease: Duration) -> Self {
        let shared = Arc::new(Shared {
            jobs,
            id: Uuid::new_v4().to_string(),
            lease,
            handlers: Mutex::default(),
            turns: Mutex::default(),
            added: Notify::new(),
            running: RunningJobs::default(),
            attempts: TaskTracker::new(),
            draining: CancellationToken::new(),
        });
        let workers = Self(Arc::new(Owner { shared, tasks: Mutex::default() }));
        workers.add(Handler::recurring(PRUNE, PRUNE_INTERVAL, |job| async move { Ok(upkeep::prune(&job).await?) }));
        workers
    }

    /// Returns the queue.
    pub fn jobs(&self) -> &Jobs {
        &self.0.shared.jobs
    }

    /// Adds a handler, also while the workers run. It replaces an earlier one of the same kind.
    pub fn add(&self, handler: Handler) {
        let name = handler.policy.name;
        self.0.shared.handlers.lock().insert(name, handler);
        self.0.shared.jobs.add_kind(name);
        self.0.shared.added.notify_one();
    }

    /// Enqueues a job and runs it in this process at once, whatever its due time, if the kind has a free
    /// place here: for work that uses something that only this process has. It is stored first, so if
    /// this process dies, another one runs it.
    ///
    /// # Errors
    /// As [`Jobs::enqueue`].
    pub async fn run_here(&self, job: NewJob) -> Result<Enqueued, StoreError> {
        claims::run_here(&self.0.shared, job).await
    }

    /// Begins to run jobs.
    pub fn start(&self) {
        let mut tasks = self.0.tasks.lock();
        if tasks.is_none() {
            let (claims, others) = (self.0.shared.clone(), self.0.shared.clone());
            *tasks = Some(Tasks {
                claims: AbortOnDropHandle::new(tokio::spawn(async move {
                    repeated_after_panics(|| claims::run(&claims)).await;
                })),
                _others: AbortOnDropHandle::new(tokio::spawn(async move {
                    let lease = repeated_after_panics(|| lease::run(&others));
                    tokio::join!(lease, repeated_after_panics(|| upkeep::run(&others)));
                })),
            });
        }
    }

    /// Stops everything but the handlers, as in a process that is frozen and wakes up later.
    #[cfg(test)]
    pub(crate) fn freeze(&self) {
        self.0.tasks.lock().take();
    }

    /// Returns the number of jobs that run here.
    pub fn running(&self) -> usize {
        self.0.shared.running.len()
    }

    /// Takes no more jobs, gives the running ones `patience` to end, then tells them to stop, and lets
    /// other servers, or the next start, run those that do not. The database must still be open.
    pub async fn shutdown(&self, patience: Duration) {
        let shared = &self.0.shared;
        shared.draining.cancel();
        let tasks = self.0.tasks.lock().take();
        let Some(Tasks { claims, _others }) = tasks else { return };
        // Jobs that are being claimed are started before it ends.
        let _ = tokio::time::timeout(patience, claims).await;
        shared.attempts.close();
        if tokio::time::timeout(patience, shared.attempts.wait()).await.is_err() {
            shared.running.stop_all(StopReason::Shutdown);
            let _ = tokio::time::timeout(LAST_GRACE, shared.attempts.wait()).await;
        }
        shared.release_all().await;
        shared.handlers.lock().clear();
    }
}

/// As if the process had died.
impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.running.abort_all();
    }
}

impl Shared {
    /// Returns the properties of a kind; `None` if these workers do not run it.
    fn policy(&self, kind: &str) -> Option<Policy> {
        self.handlers.lock().get(kind).map(|handler| handler.policy)
    }
}

/// Repeats a task if it panics, which is a bug: without it, no job would run until the next start.
async fn repeated_after_panics<F: Future<Output = ()>>(task: impl Fn() -> F) {
    while AssertUnwindSafe(task()).catch_unwind().await.is_err() {
        tracing::error!("a task of the job queue panicked; it begins again");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Formats the kinds.
impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workers").field(self.jobs()).finish()
    }
}

/// Deletes jobs that ended long ago.
const PRUNE: Kind<()> = Kind::new("jobs.prune").attempts(3);
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
