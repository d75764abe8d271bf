//! Jobs: pieces of database work that are queued for a connection, and their results.

use crate::StoreError;
use crate::sql::Db;
use futures::FutureExt;
use futures::future::{BoxFuture, OptionFuture};
use std::panic::AssertUnwindSafe;
use tokio::sync::oneshot;

/// A queued piece of work and its caller.
pub(crate) trait Job: Send {
    /// Does the work and keeps its result.
    fn run<'c>(&'c mut self, db: &'c mut Db) -> BoxFuture<'c, Result<(), StoreError>>;
    /// Returns whether the work may be done again after its changes were rolled back.
    fn is_repeatable(&self) -> bool;
    /// Returns whether the caller still waits.
    fn is_awaited(&self) -> bool;
    /// Sends the caller the result of the work, or the error of the commit that discarded it.
    fn complete(self: Box<Self>, committed: Result<(), StoreError>);
}

/// Creates a job, and the receiver of its result.
pub(crate) fn new_job<T, F>(work: F) -> (Box<dyn Job>, JobResult<T>)
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
{
    queue_work(Once(Some(work)))
}

/// Creates a job that may be run more than once: only its changes of the database are effects, and these are rolled
/// back before it runs again.
pub(crate) fn new_repeatable_job<T, F>(work: F) -> (Box<dyn Job>, JobResult<T>)
where
    T: Send + 'static,
    F: for<'c> Fn(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
{
    queue_work(Repeatable(work))
}

fn queue_work<T, W>(work: W) -> (Box<dyn Job>, JobResult<T>)
where
    T: Send + 'static,
    W: Work<T> + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Task { work, result: None, reply }), JobResult(answer))
}

/// The receiver of a job's result.
pub(crate) struct JobResult<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> JobResult<T> {
    pub(crate) async fn get(self) -> Result<T, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// The work of a job.
trait Work<T>: Send {
    /// Whether it may be started again.
    const IS_REPEATABLE: bool;
    /// Starts it; `None` if it has been started before and is not repeatable.
    fn start<'c>(&mut self, db: &'c mut Db) -> Option<BoxFuture<'c, Result<T, StoreError>>>;
}

struct Once<F>(Option<F>);

impl<T, F> Work<T> for Once<F>
where
    F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send,
{
    const IS_REPEATABLE: bool = false;

    fn start<'c>(&mut self, db: &'c mut Db) -> Option<BoxFuture<'c, Result<T, StoreError>>> {
        self.0.take().map(|work| work(db))
    }
}

struct Repeatable<F>(F);

impl<T, F> Work<T> for Repeatable<F>
where
    F: for<'c> Fn(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send,
{
    const IS_REPEATABLE: bool = true;

    fn start<'c>(&mut self, db: &'c mut Db) -> Option<BoxFuture<'c, Result<T, StoreError>>> {
        Some((self.0)(db))
    }
}

struct Task<T, W> {
    work: W,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Job for Task<T, W>
where
    T: Send,
    W: Work<T>,
{
    fn run<'c>(&'c mut self, db: &'c mut Db) -> BoxFuture<'c, Result<(), StoreError>> {
        async move {
            let work = &mut self.work;
            let begun = async move { OptionFuture::from(work.start(db)).await };
            // A panic is a bug: it must fail this job, and not end the connection for all callers.
            let done = AssertUnwindSafe(begun).catch_unwind().await;
            let panicked = |_| Some(Err(StoreError::Failed("a job of the store panicked".to_owned())));
            let Some(result) = done.unwrap_or_else(panicked) else { return Ok(()) };
            let summary = result.as_ref().map(|_| ()).map_err(StoreError::clone);
            self.result = Some(result);
            summary
        }
        .boxed()
    }

    fn is_repeatable(&self) -> bool {
        W::IS_REPEATABLE
    }

    fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    fn complete(self: Box<Self>, committed: Result<(), StoreError>) {
        let result = match (self.result, committed) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(error)), _) | (_, Err(error)) => Err(error),
            (None, Ok(())) => Err(StoreError::Closed),
        };
        // The caller may have been dropped; what was committed stays.
        let _ = self.reply.send(result);
    }
}
