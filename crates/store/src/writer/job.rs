//! Jobs: pieces of database work that are queued for a connection, and their results.

use crate::StoreError;
use crate::sql::Db;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use tokio::sync::oneshot;

/// A queued piece of work and its caller.
pub(crate) trait Job: Send {
    /// Does the work and keeps its result.
    fn run<'c>(&'c mut self, db: &'c mut Db) -> BoxFuture<'c, Result<(), StoreError>>;
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
    let (reply, answer) = oneshot::channel();
    (Box::new(Task { work: Some(work), result: None, reply }), JobResult(answer))
}

/// The receiver of a job's result.
pub(crate) struct JobResult<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> JobResult<T> {
    pub(crate) async fn get(self) -> Result<T, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

struct Task<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send,
{
    fn run<'c>(&'c mut self, db: &'c mut Db) -> BoxFuture<'c, Result<(), StoreError>> {
        async move {
            let Some(work) = self.work.take() else { return Ok(()) };
            // A panic is a bug: it must fail this job, and not end the connection for all callers.
            let done = AssertUnwindSafe(async { work(db).await }).catch_unwind().await;
            let result = done.unwrap_or_else(|_| Err(StoreError::Failed("a job of the store panicked".to_owned())));
            let summary = result.as_ref().map(|_| ()).map_err(StoreError::clone);
            self.result = Some(result);
            summary
        }
        .boxed()
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
