//! The read connections to a SQLite file, each on its own thread. A job contains all statements of one read.

use crate::StoreError;
use crate::sql::{Db, LocalConnection};
use crate::writer::job::{Job, new_job};
use futures::executor::block_on;
use futures::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::{mpsc, oneshot};

/// The number of queued reads; further callers wait.
const QUEUE: usize = 256;

/// A handle on the threads, which end when the last handle is dropped.
#[derive(Clone)]
pub(crate) struct SqliteReaders {
    queue: mpsc::Sender<Message>,
    threads: usize,
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

/// The idle thread that holds the mutex waits for the next message, the other idle ones wait for the mutex.
type Inbox = Arc<Mutex<mpsc::Receiver<Message>>>;

impl SqliteReaders {
    /// Starts a thread for each connection.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(super) fn start(connections: Vec<LocalConnection>) -> Result<Self, StoreError> {
        let (queue, inbox) = mpsc::channel(QUEUE);
        let (inbox, threads) = (Arc::new(Mutex::new(inbox)), connections.len());
        for connection in connections {
            let inbox = inbox.clone();
            let started =
                thread::Builder::new().name("store-reader".to_owned()).spawn(move || serve(connection, &inbox));
            started.map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        }
        Ok(Self { queue, threads })
    }

    /// Runs `work` on a read-only connection. It is skipped if its caller has been dropped before it starts.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (job, answer) = new_job(work);
        self.queue.send(Message::Job(job)).await.map_err(|_| StoreError::Closed)?;
        answer.get().await
    }

    /// Finishes queued reads and closes the connections.
    pub(crate) async fn close(&self) {
        let mut closed = Vec::new();
        for _ in 0..self.threads {
            let (reply, done) = oneshot::channel();
            // Another caller may have closed them in between.
            if self.queue.send(Message::Close(reply)).await.is_ok() {
                closed.push(done);
            }
        }
        futures::future::join_all(closed).await;
    }
}

fn serve(connection: LocalConnection, inbox: &Inbox) {
    let mut db = Db::from(connection);
    loop {
        let message = inbox.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        match message {
            Some(Message::Job(mut job)) if job.is_awaited() => {
                // The job keeps its own result.
                let _ = block_on(job.run(&mut db));
                job.complete(Ok(()));
            }
            Some(Message::Job(_)) => {}
            Some(Message::Close(reply)) => {
                let _ = block_on(db.close());
                let _ = reply.send(());
                return;
            }
            None => return,
        }
    }
}
