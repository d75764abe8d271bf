//! The writer: a thread or task that owns the only writing connection. Writes that are queued while
//! a transaction runs form the next group, and a group costs one fsync. A queued job runs to its
//! end even if its caller is dropped.

mod connection;
pub(crate) mod job;

pub(crate) use connection::WriterConnection;

use crate::StoreError;
use crate::sql::Db;
use crate::writer::job::{Job, JobResult, new_job, new_repeatable_job};
use faults::Point;
use futures::executor::block_on;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// The number of queued writes; further callers wait.
const QUEUE: usize = 256;

/// The maximum number of writes in a transaction.
const GROUP: usize = 64;

/// Groups that take longer are logged as slow.
const SLOW: Duration = Duration::from_secs(1);

/// A handle on the writer, which ends when the last handle is dropped.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
    /// Admits one bulk write at a time.
    bulk: Arc<Semaphore>,
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the writer: for a file on its own thread, which avoids a thread switch per statement;
    /// for a server as a task, because it mostly waits.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start(line: WriterConnection) -> Result<Self, StoreError> {
        let (queue, inbox) = mpsc::channel(QUEUE);
        let is_remote = matches!(line, WriterConnection::Postgres(_));
        let work = serve(line, inbox);
        if is_remote {
            tokio::spawn(work);
        } else {
            let started = thread::Builder::new().name("store-writer".to_owned()).spawn(|| block_on(work));
            started.map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        }
        Ok(Self { queue, bulk: Arc::new(Semaphore::new(1)) })
    }

    /// Runs `work` in a transaction and returns when it is committed. Once the future has been
    /// polled until the job is queued, the work is done even if the caller is dropped.
    pub(crate) fn run<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        // Boxed before the future is created, so that the future does not contain the data to write.
        self.enqueue(new_job(work))
    }

    /// As [`Writer::run`], for frequent work that has no effects outside of the database. It may be done more than once:
    /// if a job of its group fails, everything is rolled back and done again. In return, it needs no savepoint.
    pub(crate) fn run_repeatable<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.enqueue(new_repeatable_job(work))
    }

    fn enqueue<T>(
        &self,
        (job, answer): (Box<dyn Job>, JobResult<T>),
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T>
    where
        T: Send + 'static,
    {
        let queue = self.queue.clone();
        async move {
            queue.send(Message::Job(job)).await.map_err(|_| StoreError::Closed)?;
            answer.get().await
        }
    }

    /// As [`Writer::run`], for large writes that are not urgent: a group has at most one of them,
    /// so that other writes do not wait for all of them.
    pub(crate) fn run_bulk<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (turn, run) = (self.bulk.clone(), self.run(work));
        async move {
            let _turn = turn.acquire_owned().await.map_err(|_| StoreError::Closed)?;
            run.await
        }
    }

    /// Returns the number of queued writes.
    pub(crate) fn queued_writes(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Finishes queued writes and closes the connection, which checkpoints the log into the file.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.queue.send(Message::Close(reply)).await.is_ok() {
            // Another caller may have closed it in between.
            let _ = closed.await;
        }
    }
}

async fn serve(mut line: WriterConnection, mut inbox: mpsc::Receiver<Message>) {
    let (mut messages, mut jobs, mut closing) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_shared = false;
    while inbox.recv_many(&mut messages, GROUP).await > 0 {
        if is_shared && messages.len() < GROUP {
            line.wait_for_more();
            drain_inbox(&mut inbox, &mut messages);
        }
        is_shared = messages.len() > 1;
        for message in messages.drain(..) {
            match message {
                Message::Job(job) => jobs.push(job),
                Message::Close(reply) => {
                    inbox.close();
                    closing.push(reply);
                }
            }
        }
        if !jobs.is_empty() {
            commit_group(&mut line, &mut jobs).await;
        }
    }
    if let Err(error) = line.close().await {
        tracing::warn!(%error, "the database could not be closed cleanly");
    }
    for reply in closing {
        let _ = reply.send(());
    }
}

/// Takes queued messages as far as the group has room.
fn drain_inbox(inbox: &mut mpsc::Receiver<Message>, messages: &mut Vec<Message>) {
    while messages.len() < GROUP
        && let Ok(message) = inbox.try_recv()
    {
        messages.push(message);
    }
}

/// Runs the jobs in one transaction, then replies to all: nothing is acknowledged before it is on disk.
async fn commit_group(line: &mut WriterConnection, jobs: &mut Vec<Box<dyn Job>>) {
    let (begun, count) = (Instant::now(), jobs.len());
    let committed = transact(line, jobs).await;
    let took = begun.elapsed();
    let outcome = if committed.is_ok() { "ok" } else { "error" };
    metrics::histogram!("chatwright_store_write_seconds", "outcome" => outcome).record(took);
    metrics::counter!("chatwright_store_writes_total", "outcome" => outcome).increment(count as u64);
    if took > SLOW {
        tracing::warn!(?took, jobs = count, "writing to the database is slow");
    }
    for job in jobs.drain(..) {
        job.complete(committed.clone());
    }
}

async fn transact(line: &mut WriterConnection, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    if let Err(error) = line.begin().await {
        line.roll_back().await;
        return Err(error);
    }
    let done = match line.patience() {
        Some(patience) => tokio::time::timeout(patience, run_all(line, jobs)).await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable(format!("it did not answer for {} s", patience.as_secs())))
        }),
        None => run_all(line, jobs).await,
    };
    match done {
        Ok(()) => {
            faults::point(Point::CommitBefore);
            let wakes = line.db()?.take_wakes();
            let committed = line.commit().await;
            faults::point(Point::CommitAfter);
            // Also if the outcome is unknown.
            wakes.iter().for_each(|wake| wake.notify_one());
            committed
        }
        Err(error) => {
            line.roll_back().await;
            Err(error)
        }
    }
}

async fn run_all(line: &mut WriterConnection, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    match jobs {
        // If a job alone in its transaction fails, the rollback undoes it.
        [job] => job.run(line.db()?).await,
        jobs if jobs.iter().all(|job| job.is_repeatable()) => run_without_savepoints(line, jobs).await,
        jobs => run_in_savepoints(line.db()?, jobs).await,
    }
}

/// Runs jobs without savepoints, because SQLite writes the search index out at each of them and copies each page that
/// changes after it. If a job fails, the transaction begins again with a savepoint for each job.
async fn run_without_savepoints(line: &mut WriterConnection, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    if run_each(line.db()?, jobs).await.is_ok() {
        return Ok(());
    }
    line.roll_back().await;
    line.begin().await?;
    run_each_in_savepoint(line.db()?, jobs).await
}

/// Runs jobs so that a failed one loses only its own changes. Consecutive repeatable jobs share a savepoint, and run
/// again in savepoints of their own if one of them fails. An error means that the database aborted the whole
/// transaction.
async fn run_in_savepoints(db: &mut Db, mut jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    while !jobs.is_empty() {
        let count = jobs.iter().take_while(|job| job.is_repeatable()).count().max(1);
        let (together, rest) = std::mem::take(&mut jobs).split_at_mut(count);
        if run_in_savepoint(db, together).await?.is_err() && count > 1 {
            run_each_in_savepoint(db, together).await?;
        }
        jobs = rest;
    }
    Ok(())
}

async fn run_each_in_savepoint(db: &mut Db, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    for job in jobs {
        // The job keeps its own error.
        let _ = run_in_savepoint(db, std::slice::from_mut(job)).await?;
    }
    Ok(())
}

/// Runs jobs in one savepoint up to the first that fails, and undoes their changes if one does. The inner result is
/// that of the jobs; the outer one is an error if the database aborted the whole transaction.
async fn run_in_savepoint(db: &mut Db, jobs: &mut [Box<dyn Job>]) -> Result<Result<(), StoreError>, StoreError> {
    db.run("SAVEPOINT job").await?;
    let done = run_each(db, jobs).await;
    if let Err(error) = &done {
        db.run("ROLLBACK TO job").await.map_err(|_| error.clone())?;
    }
    db.run("RELEASE job").await?;
    Ok(done)
}

/// Runs jobs up to the first that fails.
async fn run_each(db: &mut Db, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    for job in jobs {
        job.run(db).await?;
    }
    Ok(())
}
