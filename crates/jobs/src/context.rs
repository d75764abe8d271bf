//! The context of a handler: the job, whether it must stop, and the fence that its writes pass.

use crate::outcome::{End, Outcome};
use crate::queue::Jobs;
use crate::table;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;
use store::sql::Db;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

/// Why a running job must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// An operator cancelled it, or its user is being deleted.
    Cancelled,
    /// It belongs to another worker, because this one gave no sign of life for too long, or it was
    /// deleted. Its writes are refused.
    Lost,
    /// It took longer than its kind allows.
    TimedOut,
    /// The server shuts down. The job begins anew on the next server, and the attempt does not count.
    Shutdown,
}

/// One attempt of a job, on this server.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) owner: Option<String>,
    pub(crate) number: u32,
    pub(crate) fence: i64,
    pub(crate) created_at: i64,
    pub(crate) stop: CancellationToken,
    pub(crate) why: Mutex<Option<StopReason>>,
}

impl Attempt {
    /// Tells the handler to stop; the first reason counts, but nothing counts more than a lost job.
    pub(crate) fn stop(&self, reason: StopReason) {
        let mut why = self.why.lock();
        if why.is_none() || reason == StopReason::Lost {
            *why = Some(reason);
        }
        drop(why);
        self.stop.cancel();
    }

    pub(crate) fn why_stopped(&self) -> Option<StopReason> {
        *self.why.lock()
    }

    pub(crate) fn fence(&self) -> Fence {
        Fence { job_id: self.id.clone(), number: self.fence }
    }
}

/// The context of a handler beside the payload; cheap to clone. As long as the handler runs, the worker
/// keeps the job's lease.
#[derive(Clone, Debug)]
pub struct JobContext {
    pub(crate) attempt: Arc<Attempt>,
    pub(crate) jobs: Jobs,
    pub(crate) draining: CancellationToken,
}

impl JobContext {
    /// The job's id, which stays the same over all attempts: a key that makes calls of other services
    /// idempotent.
    pub fn id(&self) -> &str {
        &self.attempt.id
    }

    /// The user whose work it is; `None` for the server's.
    pub fn owner(&self) -> Option<&str> {
        self.attempt.owner.as_deref()
    }

    /// The number of the attempt; counts from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt.number
    }

    /// When the job was enqueued; Unix time in milliseconds.
    pub fn created_at(&self) -> i64 {
        self.attempt.created_at
    }

    /// The queue, to enqueue further jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The database.
    pub fn store(&self) -> &Store {
        self.jobs.store()
    }

    /// Cancelled when the handler must stop. One that goes on for another ten seconds is dropped.
    pub fn stop(&self) -> &CancellationToken {
        &self.attempt.stop
    }

    /// Cancelled when the server begins to shut down, some time before [`JobContext::stop`]. A handler whose work
    /// can go on later begins nothing new then.
    pub fn draining(&self) -> &CancellationToken {
        &self.draining
    }

    /// Why the handler must stop; `None` as long as it need not.
    pub fn why_stopped(&self) -> Option<StopReason> {
        self.attempt.why_stopped()
    }

    /// The fence, for transactions of the handler's own.
    pub fn fence(&self) -> Fence {
        self.attempt.fence()
    }

    /// Writes in a transaction, unless the attempt is over.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the job belongs to another worker by now, or is gone; those of `work`,
    /// and of the database.
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let fence = self.fence();
        let write = self.store().write(move |db| {
            Box::pin(async move {
                fence.check(db).await?;
                work(db).await
            })
        });
        write.await
    }

    /// Writes and ends the job in one transaction, so that exactly one attempt does both. The handler
    /// returns the outcome that it gets.
    ///
    /// # Errors
    /// As [`JobContext::write`].
    pub async fn finish<F>(&self, outcome: Outcome, work: F) -> Result<Outcome, StoreError>
    where
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<(), StoreError>> + Send + 'static,
    {
        let fence = self.fence();
        let write = self.store().write(move |db| {
            Box::pin(async move {
                fence.check(db).await?;
                work(db).await?;
                fence.end(db, outcome).await
            })
        });
        write.await
    }
}

/// The identity of an attempt, which differs from those before and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    pub(crate) job_id: String,
    /// Grows with each attempt.
    pub(crate) number: i64,
}

impl Fence {
    /// Checks that the attempt is not over, for the rest of the transaction.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if it is over. The database failed.
    pub async fn check(&self, db: &mut Db) -> Result<(), StoreError> {
        if table::is_running(db, self).await? { Ok(()) } else { Err(StoreError::Fenced) }
    }

    /// Ends the job with the other writes of the transaction. The handler returns the outcome that it
    /// gets.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the attempt is over. The database failed.
    pub async fn end(&self, db: &mut Db, outcome: Outcome) -> Result<Outcome, StoreError> {
        if outcome.0 != End::Nothing && !table::end(db, self, None, &outcome.0).await? {
            return Err(StoreError::Fenced);
        }
        Ok(Outcome(End::Nothing))
    }
}
