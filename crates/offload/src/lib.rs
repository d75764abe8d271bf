#![doc = include_str!("../README.md")]

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The maximum number of threads of a pool.
const MAX_THREADS: usize = 2;

/// The lowest priority of a thread.
#[cfg(target_os = "linux")]
const LOWEST_PRIORITY: i32 = 19;

type Work = Box<dyn FnOnce() + Send>;

/// A pool of threads; a cheap handle. The threads end when the last handle is dropped.
#[derive(Clone, Debug)]
pub struct Pool {
    queue: mpsc::Sender<Work>,
    permits: Arc<Semaphore>,
}

/// The error of work that was refused because too much is queued, or that panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too much work is queued")]
pub struct Busy;

/// A flag that is set when the caller of running work has gone.
#[derive(Clone, Debug, Default)]
pub struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    /// Returns whether the caller has gone.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when the caller's future is dropped.
struct AbandonOnDrop(Abandoned);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Pool {
    /// Starts threads with this name and stack size in bytes. At most `capacity` tasks are queued
    /// or running.
    pub fn new(name: &str, stack: usize, capacity: usize) -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self::with_threads(name, (processors / 2).clamp(1, MAX_THREADS), stack, capacity)
    }

    /// Like [`Pool::new`], with this number of threads: for work that also waits.
    pub fn with_threads(name: &str, threads: usize, stack: usize, capacity: usize) -> Self {
        let (queue, inbox) = mpsc::channel();
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..threads {
            let inbox = inbox.clone();
            let builder = thread::Builder::new().name(name.to_owned()).stack_size(stack);
            if let Err(error) = builder.spawn(move || run_worker(&inbox)) {
                tracing::error!(%error, name, "a thread cannot be started");
            }
        }
        Self { queue, permits: Arc::new(Semaphore::new(capacity)) }
    }

    /// Runs work on one of the threads and waits for its result. Dropping the future abandons the
    /// work.
    ///
    /// # Errors
    /// [`Busy`] if too much is queued, or if the work panicked.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Abandoned) -> T + Send + 'static) -> Result<T, Busy> {
        let permit = self.permits.clone().try_acquire_owned().map_err(|_| Busy)?;
        self.run_permitted(permit, work).await
    }

    /// Like [`Pool::run`], but waits for capacity; for callers whose time is limited and whose work
    /// needs little memory before it starts.
    ///
    /// # Errors
    /// [`Busy`] if the work panicked.
    pub async fn run_waiting<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Abandoned) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| Busy)?;
        self.run_permitted(permit, work).await
    }

    /// The work holds the permit, so that an abandoned caller does not free capacity while the work
    /// still runs.
    async fn run_permitted<T: Send + 'static>(
        &self,
        permit: OwnedSemaphorePermit,
        work: impl FnOnce(&Abandoned) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (reply, answer) = oneshot::channel();
        let abandoned = Abandoned::default();
        let _guard = AbandonOnDrop(abandoned.clone());
        let work = move || {
            if !abandoned.is_set() {
                // The caller may have gone meanwhile.
                let _ = reply.send(work(&abandoned));
            }
            drop(permit);
        };
        self.queue.send(Box::new(work)).map_err(|_| Busy)?;
        answer.await.map_err(|_| Busy)
    }
}

/// Runs queued work until the last handle of the pool is dropped.
fn run_worker(inbox: &Mutex<mpsc::Receiver<Work>>) {
    lower_priority();
    loop {
        let next = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { break };
        // The caller is notified of a panic by the dropped channel; the thread continues.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

/// Lowers the priority of this thread. Only Linux has a niceness per thread; on other systems the
/// whole process would be affected.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(LOWEST_PRIORITY) {
        tracing::debug!(%error, "the priority of a thread cannot be lowered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// The senders that end the work of an occupied pool when dropped, and the work.
    type Occupied = (Vec<mpsc::Sender<()>>, Vec<tokio::task::JoinHandle<Result<(), Busy>>>);

    fn occupy(pool: &Pool) -> Occupied {
        let works = (0..MAX_THREADS).map(|_| {
            let (release, wait) = channel::<()>();
            let pool = pool.clone();
            let running = tokio::spawn(async move { pool.run(move |_| wait.recv().unwrap_or_default()).await });
            (release, running)
        });
        works.unzip()
    }

    #[tokio::test]
    async fn results_are_returned() {
        let pool = Pool::new("test", 1 << 20, 4);
        assert_eq!(pool.run(|_| 1 + 1).await, Ok(2));
    }

    #[tokio::test]
    async fn work_over_the_capacity_is_refused() {
        let pool = Pool::new("test", 1 << 20, MAX_THREADS);
        let (releases, running) = occupy(&pool);
        while pool.permits.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|_| ()).await, Err(Busy));
        drop(releases);
        for work in running {
            assert_eq!(work.await.unwrap(), Ok(()));
        }
        assert_eq!(pool.run(|_| ()).await, Ok(()));
    }

    #[tokio::test]
    async fn waiting_work_is_not_refused() {
        let pool = Pool::new("test", 1 << 20, MAX_THREADS);
        let (releases, running) = occupy(&pool);
        while pool.permits.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let mut waiting = Box::pin(pool.run_waiting(|_| 3));
        assert!(futures::FutureExt::now_or_never(&mut waiting).is_none());
        drop(releases);
        assert_eq!(waiting.await, Ok(3));
        for work in running {
            assert_eq!(work.await.unwrap(), Ok(()));
        }
    }

    #[tokio::test]
    async fn abandoned_work_is_flagged_or_not_started() {
        let pool = Pool::new("test", 1 << 20, 8);
        let (began, begun) = channel();
        let (ended, end) = channel();
        let running = tokio::spawn({
            let pool = pool.clone();
            async move {
                let work = move |abandoned: &Abandoned| {
                    began.send(()).unwrap();
                    while !abandoned.is_set() {
                        thread::yield_now();
                    }
                    ended.send(()).unwrap();
                };
                pool.run(work).await
            }
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
        running.abort();
        tokio::task::spawn_blocking(move || end.recv().unwrap()).await.unwrap();

        let (releases, _running) = occupy(&pool);
        while pool.permits.available_permits() > 8 - MAX_THREADS {
            tokio::task::yield_now().await;
        }
        let (told, telling) = channel();
        let waiting = pool.run(move |_| told.send(()).unwrap());
        assert!(futures::FutureExt::now_or_never(waiting).is_none());
        drop(releases);
        assert_eq!(pool.run(|_| ()).await, Ok(()));
        assert!(telling.recv().is_err());
    }

    #[tokio::test]
    async fn panic_ends_only_its_own_work() {
        let pool = Pool::new("test", 1 << 20, 4);
        // Without the panic hook, so that the test output stays clean.
        assert_eq!(pool.run(|_| -> () { std::panic::resume_unwind(Box::new(())) }).await, Err(Busy));
        assert_eq!(pool.run(|_| 3).await, Ok(3));
    }
}
