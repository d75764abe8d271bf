//! Health check of the store. The result is cached, so that frequent checks do not load the disk.

use std::time::{Duration, Instant};
use store::{Store, StoreError};
use tokio::sync::Mutex;

/// How long a result is cached.
const CACHE_TIME: Duration = Duration::from_secs(2);

/// The health of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreHealth {
    /// The store can be read and written.
    Works,
    /// The store does not respond or cannot be written.
    Fails,
    /// A file of the open database was moved, deleted, replaced or truncated. Further writes would
    /// be lost.
    FileLost,
}

/// The cached result.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, StoreHealth)>>);

impl Readiness {
    /// Returns the health of the store, cached for a moment. Concurrent callers share one check.
    /// Changes are logged.
    pub(crate) async fn check(&self, store: &Store) -> StoreHealth {
        let mut last = self.0.lock().await;
        if let Some((_, storage)) = last.filter(|(asked, _)| asked.elapsed() < CACHE_TIME) {
            return storage;
        }
        let answered = store.ping().await;
        let storage = match &answered {
            Ok(()) => StoreHealth::Works,
            Err(StoreError::FileLost(_)) => StoreHealth::FileLost,
            Err(_) => StoreHealth::Fails,
        };
        let before = last.map_or(StoreHealth::Works, |(_, storage)| storage);
        match answered {
            Err(error) if storage != before && !error.is_reported() => {
                tracing::warn!(%error, "the database takes no writes");
            }
            Ok(()) if before == StoreHealth::Fails => tracing::warn!("the database takes writes again"),
            _ => {}
        }
        *last = Some((Instant::now(), storage));
        storage
    }
}
