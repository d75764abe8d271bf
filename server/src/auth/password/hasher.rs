//! Passwords as hashes (Argon2id). Hashing is made to be slow, so it has its own threads, few of them, which give way to whatever else there
//! is to do: a hundred sign-ins at the same time must not stall the streams of others (A36, L10).

use anyhow::anyhow;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::thread;
use tokio::sync::{Semaphore, oneshot};

/// At once, at most; half of the processors belong to those who are being answered.
const WORKERS: usize = 2;
/// Waiting or working; more are turned away.
const MAX_WAITING: usize = 64;

/// The nicest that a thread can be.
#[cfg(target_os = "linux")]
const LAST: i32 = 19;

/// What the password of somebody who is not there is compared with, so that it takes as long.
static NOBODY: LazyLock<String> = LazyLock::new(|| hash("nobody").unwrap_or_default());

type Work = Box<dyn FnOnce() + Send>;

/// Hashes and compares passwords; a cheap handle. Its threads end with the last one.
#[derive(Clone)]
pub(crate) struct Hasher {
    queue: mpsc::Sender<Work>,
    waiting: Arc<Semaphore>,
}

/// Too many wait already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crowded;

impl Default for Hasher {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let (queue, inbox) = mpsc::channel();
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..(processors / 2).clamp(1, WORKERS) {
            let inbox = inbox.clone();
            let started = thread::Builder::new().name("passwords".to_owned()).spawn(move || serve(&inbox));
            if let Err(error) = started {
                tracing::error!(%error, "no thread can be started for passwords");
            }
        }
        Self { queue, waiting: Arc::new(Semaphore::new(MAX_WAITING)) }
    }
}

impl Hasher {
    /// The hash of a password, to be kept.
    pub(crate) async fn hash(&self, password: String) -> Result<anyhow::Result<String>, Crowded> {
        self.run(move || hash(&password)).await
    }

    /// Whether this is the password of that hash. Without a hash it is not, and takes as long.
    pub(crate) async fn is_right(&self, password: String, kept: Option<String>) -> Result<bool, Crowded> {
        self.run(move || is_right(&password, kept.as_deref())).await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Crowded> {
        // The place goes along: who hangs up does not make room before his work was taken up.
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| Crowded)?;
        let (reply, answer) = oneshot::channel();
        let work = move || {
            if !reply.is_closed() {
                // He may hang up meanwhile.
                let _ = reply.send(work());
            }
            drop(place);
        };
        self.queue.send(Box::new(work)).map_err(|_| Crowded)?;
        answer.await.map_err(|_| Crowded)
    }
}

/// A thread's work, for as long as anybody may ask for some.
fn serve(inbox: &Mutex<mpsc::Receiver<Work>>) {
    give_way();
    loop {
        let next = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { break };
        // Whoever waits is told that it ended; the thread is there for the next.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

/// Linux counts niceness for each thread. Elsewhere it would be the whole process'.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(LAST) {
        tracing::debug!(%error, "the threads for passwords are no nicer than others");
    }
}

fn hash(password: &str) -> anyhow::Result<String> {
    let hash = Argon2::default().hash_password(password.as_bytes()).map_err(|error| anyhow!("{error}"))?;
    Ok(hash.to_string())
}

/// The same work is done for nobody.
fn is_right(password: &str, kept: Option<&str>) -> bool {
    let nobody = &*NOBODY;
    let is_right = verify(password, kept.unwrap_or(nobody));
    kept.is_some() && is_right
}

fn verify(password: &str, kept: &str) -> bool {
    let parsed = PasswordHash::new(kept);
    parsed.is_ok_and(|kept| Argon2::default().verify_password(password.as_bytes(), &kept).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[tokio::test]
    async fn passwords() {
        let hasher = Hasher::default();
        let kept = hasher.hash("correct horse".to_owned()).await.unwrap().unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_ne!(hasher.hash("correct horse".to_owned()).await.unwrap().unwrap(), kept);
        let check = async |password: &str, kept: Option<&str>, expected: bool| {
            let is_right = hasher.is_right(password.to_owned(), kept.map(str::to_owned)).await;
            assert_eq!(is_right, Ok(expected), "{password}");
        };
        check("correct horse", Some(&kept), true).await;
        check("correct horsf", Some(&kept), false).await;
        check("", Some(&kept), false).await;
        check("nobody", None, false).await;
        check("x", Some("no hash"), false).await;
    }

    /// A36: nobody learns from the time whether there is a user. The same work is done; times alone would tell how busy this machine is.
    #[tokio::test]
    async fn nobody_takes_as_long_as_somebody() {
        let hasher = Hasher::default();
        let kept = hasher.hash("correct horse".to_owned()).await.unwrap().unwrap();
        let work = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(work(&NOBODY), work(&kept));
        let begun = Instant::now();
        assert_eq!(hasher.is_right("wrong".to_owned(), None).await, Ok(false));
        // Twice through 19 MiB; to look at nothing takes some microseconds.
        assert!(begun.elapsed() > Duration::from_millis(2), "{:?}", begun.elapsed());
    }

    /// A36: over 1,000 tries, wrong passwords of somebody and of nobody take the same, up to 5 %. By the time of the processor, and taken in turns: what
    /// else this machine does counts for neither.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_thousand_tries_tell_nothing() {
        // Brought up to date with each tick of the kernel, so some tries are measured together.
        const TOGETHER: usize = 20;
        let spent = || {
            let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
            told.split(' ').next().unwrap().parse::<u64>().unwrap()
        };
        let kept = hash("correct horse").unwrap();
        let mut times = [0.0, 0.0];
        for round in 0..1_000 / 2 / TOGETHER {
            for which in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                let hash = (which == 0).then_some(kept.as_str());
                let begun = spent();
                assert!((0..TOGETHER).all(|n| !is_right(&format!("wrong {round} {n}"), hash)));
                times[which] += (spent() - begun) as f64;
            }
        }
        let [somebody, nobody] = times;
        assert!((somebody / nobody - 1.0).abs() < 0.05, "{somebody} ns of somebody, {nobody} ns of nobody");
    }

    #[tokio::test]
    async fn a_crowd_is_turned_away() {
        let hasher = Hasher::default();
        let all = (0..100).map(|_| hasher.is_right("x".to_owned(), None));
        let answers = futures::future::join_all(all).await;
        let turned = answers.iter().filter(|answer| **answer == Err(Crowded)).count();
        assert_eq!(turned, 100 - MAX_WAITING);
    }
}
