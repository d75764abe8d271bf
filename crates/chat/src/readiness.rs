//! Whether the store takes writes. The answer is kept for a while, so that frequent health checks do not make the disk work.

use std::time::{Duration, Instant};
use store::{Store, StoreError};
use tokio::sync::Mutex;

/// How long an answer is kept.
const HOLDS: Duration = Duration::from_secs(2);

/// Whether the store reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// It does.
    Works,
    /// It does not answer, or cannot be written.
    Fails,
    /// A file of the database was moved, deleted, replaced or cut while it is open. What is written now would be lost.
    FileLost,
}

/// The last answer.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Storage)>>);

impl Readiness {
    /// Whether the store works, or did a moment ago. Of many callers at once, one asks the store. The log has a line when this changes.
    pub(crate) async fn check(&self, store: &Store) -> Storage {
        let mut last = self.0.lock().await;
        if let Some((_, storage)) = last.filter(|(asked, _)| asked.elapsed() < HOLDS) {
            return storage;
        }
        let answered = store.ping().await;
        let storage = match &answered {
            Ok(()) => Storage::Works,
            Err(StoreError::FileLost(_)) => Storage::FileLost,
            Err(_) => Storage::Fails,
        };
        let before = last.map_or(Storage::Works, |(_, storage)| storage);
        match answered {
            Err(error) if storage != before && !error.is_reported() => {
                tracing::warn!(%error, "the database takes no writes");
            }
            Ok(()) if before == Storage::Fails => tracing::warn!("the database takes writes again"),
            _ => {}
        }
        *last = Some((Instant::now(), storage));
        storage
    }
}
