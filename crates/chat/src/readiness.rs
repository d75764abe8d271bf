//! Whether the store takes writes, asked seldom: whoever asks this server often must not make its disk work.

use std::time::{Duration, Instant};
use store::Store;
use tokio::sync::Mutex;

/// How long an answer holds.
const HOLDS: Duration = Duration::from_secs(2);

/// The last answer.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, bool)>>);

impl Readiness {
    /// Whether the store reads and writes, or did a moment ago. Of many who ask at once, one asks the store.
    pub(crate) async fn of(&self, store: &Store) -> bool {
        let mut last = self.0.lock().await;
        if let Some((_, is_stored)) = last.filter(|(asked, _)| asked.elapsed() < HOLDS) {
            return is_stored;
        }
        let answered = store.ping().await;
        if let Err(error) = &answered {
            tracing::warn!(%error, "the database takes no writes");
        }
        *last = Some((Instant::now(), answered.is_ok()));
        answered.is_ok()
    }
}
