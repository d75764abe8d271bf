//! The queue: enqueueing, and what operators see and do.

use crate::new_job::{Enqueued, NewJob};
use crate::table::{self, CancelOutcome, JobFilter, JobRow, JobState, QueueStatus};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use store::sql::Db;
use store::{Store, StoreError};
use tokio::sync::Notify;

/// The queue of a database; cheap to clone. A process has one, and [`crate::Workers`] that run its
/// jobs.
#[derive(Clone)]
pub struct Jobs(Arc<Inner>);

struct Inner {
    store: Store,
    /// Jobs may have become due.
    due: Arc<Notify>,
    /// A running job may have to stop.
    stops: Arc<Notify>,
    /// The kinds that the workers of this process run.
    kinds: Mutex<BTreeSet<&'static str>>,
    /// About how many jobs of each kind wait, as of the last count and with those enqueued since.
    waiting: Mutex<HashMap<String, u64>>,
}

impl Jobs {
    /// A handle on the queue of a database.
    pub fn new(store: Store) -> Self {
        Self(Arc::new(Inner {
            store,
            due: Arc::default(),
            stops: Arc::default(),
            kinds: Mutex::default(),
            waiting: Mutex::default(),
        }))
    }

    /// Enqueues a job. It is stored when the future resolves.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the payload or the key is too long, too many jobs of the kind wait,
    /// or a job of another user has the key. The database failed.
    pub async fn enqueue(&self, job: NewJob) -> Result<Enqueued, StoreError> {
        let jobs = self.clone();
        self.0.store.write(move |db| Box::pin(async move { jobs.enqueue_in(db, job).await })).await
    }

    /// Enqueues a job with the other writes of a transaction. When it commits, the workers of this
    /// process begin at once; those of other servers are notified.
    ///
    /// # Errors
    /// As [`Jobs::enqueue`].
    pub async fn enqueue_in(&self, db: &mut Db, job: NewJob) -> Result<Enqueued, StoreError> {
        let (kind, most) = (job.policy.name, job.policy.max_waiting);
        if self.0.waiting.lock().get(kind).is_some_and(|waiting| *waiting >= most) {
            return Err(StoreError::Invalid("too many jobs of this kind wait"));
        }
        let enqueued = table::enqueue(db, job).await?;
        if let Enqueued::New(_) = enqueued {
            *self.0.waiting.lock().entry(kind.to_owned()).or_default() += 1;
        }
        self.changed(db).await?;
        Ok(enqueued)
    }

    /// Wakes all workers when the transaction commits.
    async fn changed(&self, db: &mut Db) -> Result<(), StoreError> {
        db.wake_after_commit(&self.0.due);
        self.0.store.notify_jobs_changed(db).await
    }

    /// Makes a job due now that has failed or was cancelled, with its attempts counted anew, or that
    /// waits. Returns false if it has another state, or is unknown.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if another job with its key waits or runs. The database failed.
    pub async fn retry_in(&self, db: &mut Db, id: &str) -> Result<bool, StoreError> {
        let is_due = table::retry(db, id).await?;
        self.changed(db).await?;
        Ok(is_due)
    }

    /// Cancels a job that waits, or tells one that runs to stop. A recurring job returns with the next
    /// start of a server.
    ///
    /// # Errors
    /// The database failed.
    pub async fn cancel_in(&self, db: &mut Db, id: &str) -> Result<CancelOutcome, StoreError> {
        let outcome = table::cancel(db, id).await?;
        db.wake_after_commit(&self.0.stops);
        Ok(outcome)
    }

    /// Cancels all jobs of a user who is being deleted; the rows are deleted with the user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn cancel_owner(&self, user_id: &str) -> Result<(), StoreError> {
        let (user_id, stops) = (user_id.to_owned(), self.0.stops.clone());
        let cancel = self.0.store.write(move |db| {
            Box::pin(async move {
                db.wake_after_commit(&stops);
                table::cancel_owner(db, &user_id).await
            })
        });
        cancel.await
    }

    /// Lists jobs, the newest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(&self, filter: JobFilter, limit: u32) -> Result<Vec<JobRow>, StoreError> {
        let list = self.0.store.read(move |db| Box::pin(table::list(db, filter, limit)));
        let mut rows = list.await?;
        let kinds = self.0.kinds.lock();
        rows.iter_mut().for_each(|row| row.known = kinds.contains(row.kind.as_str()));
        Ok(rows)
    }

    /// Returns the number of jobs by kind and state, and how late the queue is.
    ///
    /// # Errors
    /// The database failed.
    pub async fn status(&self) -> Result<QueueStatus, StoreError> {
        let status = self.0.store.read(|db| {
            Box::pin(async move {
                let counts = table::counts(&mut *db).await?;
                let waiting = counts.iter().filter(|count| count.state == JobState::Waiting);
                let kinds: Vec<_> = waiting.map(|count| count.kind.clone()).collect();
                let oldest_due_ms = table::oldest_due(db, &kinds).await?;
                Ok(QueueStatus { counts, oldest_due_ms })
            })
        });
        let status = status.await?;
        let waiting = status.counts.iter().filter(|count| count.state == JobState::Waiting);
        let waiting = waiting.map(|count| (count.kind.clone(), count.jobs.max(0).cast_unsigned())).collect();
        *self.0.waiting.lock() = waiting;
        Ok(status)
    }

    /// Returns the number of jobs that are due and wait.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_due(&self) -> Result<i64, StoreError> {
        self.0.store.read(|db| Box::pin(table::count_due(db))).await
    }

    /// Returns the kinds that the workers of this process run.
    pub fn kinds(&self) -> Vec<&'static str> {
        self.0.kinds.lock().iter().copied().collect()
    }

    pub(crate) fn add_kind(&self, kind: &'static str) {
        self.0.kinds.lock().insert(kind);
    }

    /// Returns the database.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Notified when jobs may have become due.
    pub(crate) fn due(&self) -> &Notify {
        &self.0.due
    }

    /// Notified when a running job may have to stop.
    pub(crate) fn stops(&self) -> &Notify {
        &self.0.stops
    }
}

/// Formats the kinds that are run here.
impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("kinds", &self.kinds()).finish_non_exhaustive()
    }
}
