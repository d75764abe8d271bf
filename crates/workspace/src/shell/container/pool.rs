//! A pool of items for the next use, which evicts the least recently used one.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most that are kept.
const MAX_KEPT: usize = 3;
/// The longest time for which one is kept without being used.
const MAX_IDLE: Duration = Duration::from_secs(600);

/// The items, the least recently used first. An evicted item is dropped.
pub(super) struct Pool<T>(Vec<Kept<T>>);

struct Kept<T> {
    key: String,
    since: Instant,
    what: T,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pool<T> {
    /// Takes one out, so that nobody else uses it.
    pub(super) fn take(&mut self, key: &str, now: Instant) -> Option<T> {
        self.remove_idle(now);
        let at = self.0.iter().rposition(|kept| kept.key == key)?;
        Some(self.0.remove(at).what)
    }

    fn put(&mut self, key: String, what: T, now: Instant) {
        self.0.push(Kept { key, since: now, what });
        if self.0.len() > MAX_KEPT {
            self.0.remove(0);
        }
    }

    fn remove_idle(&mut self, now: Instant) {
        self.0.retain(|kept| now.duration_since(kept.since) < MAX_IDLE);
    }
}

impl<T: Send + 'static> Pool<T> {
    /// Keeps one until it is taken, for [`MAX_IDLE`] at most.
    pub(super) fn keep(pool: &Arc<Mutex<Self>>, key: String, what: T) {
        pool.lock().put(key, what, Instant::now());
        // The pool may be gone by then, and with it what it has kept.
        let pool = Arc::downgrade(pool);
        tokio::spawn(async move {
            tokio::time::sleep(MAX_IDLE).await;
            if let Some(pool) = pool.upgrade() {
                pool.lock().remove_idle(Instant::now());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_and_the_idle_leave() {
        let mut pool = Pool::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for (second, key) in ["a", "b", "c"].into_iter().enumerate() {
            pool.put(key.to_owned(), second, at(second as u64));
        }
        assert_eq!(pool.take("a", at(5)), Some(0));
        assert_eq!(pool.take("a", at(5)), None);
        pool.put("a".to_owned(), 0, at(6));
        pool.put("d".to_owned(), 3, at(7));
        assert_eq!(pool.take("b", at(8)), None);
        assert_eq!(pool.take("c", at(601)), Some(2));
        assert_eq!(pool.take("a", at(606)), None);
        assert_eq!(pool.take("d", at(606)), Some(3));
    }
}
