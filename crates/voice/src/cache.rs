//! The audio of the newest parts, so that reading again costs nothing.

use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Audio in memory, up to a number of bytes. The parts that were not used for the longest time go first. Parts that are too old
/// go with the next use of the cache, because their messages may be deleted.
pub(crate) struct AudioCache {
    max_bytes: usize,
    max_age: Duration,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    parts: HashMap<String, Part>,
    bytes: usize,
    /// Counts the uses.
    clock: u64,
}

struct Part {
    audio: Bytes,
    last_use: u64,
    added_at: Instant,
}

impl AudioCache {
    /// Creates an empty cache.
    pub(crate) fn new(max_bytes: usize, max_age: Duration) -> Self {
        Self { max_bytes, max_age, entries: Mutex::default() }
    }

    /// Returns the audio with this key.
    pub(crate) fn get(&self, key: &str) -> Option<Bytes> {
        let entries = &mut *self.entries.lock();
        entries.remove_older(self.max_age);
        entries.clock += 1;
        let part = entries.parts.get_mut(key)?;
        part.last_use = entries.clock;
        Some(part.audio.clone())
    }

    /// Keeps audio, unless it is larger than the cache.
    pub(crate) fn insert(&self, key: String, audio: Bytes) {
        let size = key.len() + audio.len();
        if size > self.max_bytes {
            return;
        }
        let entries = &mut *self.entries.lock();
        entries.remove_older(self.max_age);
        entries.remove(&key);
        while entries.bytes + size > self.max_bytes {
            let oldest = entries.parts.iter().min_by_key(|(_, part)| part.last_use).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            entries.remove(&oldest);
        }
        entries.clock += 1;
        entries.bytes += size;
        entries.parts.insert(key, Part { audio, last_use: entries.clock, added_at: Instant::now() });
    }
}

impl Entries {
    fn remove_older(&mut self, max_age: Duration) {
        let old = self.parts.iter().filter(|(_, part)| part.added_at.elapsed() >= max_age);
        let old: Vec<_> = old.map(|(key, _)| key.clone()).collect();
        for key in old {
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &str) {
        if let Some(part) = self.parts.remove(key) {
            self.bytes = self.bytes.saturating_sub(key.len() + part.audio.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_parts_go_when_the_room_is_used_up() {
        let cache = AudioCache::new(12, Duration::from_secs(3_600));
        let check = |expected: [bool; 3]| {
            let kept = ["a", "b", "c"].map(|key| cache.entries.lock().parts.contains_key(key));
            assert_eq!((kept, cache.entries.lock().bytes <= 12), (expected, true));
        };
        let five = || Bytes::from_static(b"12345");
        cache.insert("a".to_owned(), five());
        cache.insert("b".to_owned(), five());
        check([true, true, false]);
        assert_eq!(cache.get("a"), Some(five()));
        cache.insert("c".to_owned(), five());
        check([true, false, true]);
        assert_eq!(cache.get("b"), None);
        // The same key again takes the place of the former value.
        cache.insert("c".to_owned(), five());
        check([true, false, true]);
        cache.insert("b".to_owned(), Bytes::from_static(b"too large for it"));
        check([true, false, true]);
    }

    #[test]
    fn old_parts_are_neither_returned_nor_kept() {
        let cache = AudioCache::new(100, Duration::ZERO);
        cache.insert("a".to_owned(), Bytes::from_static(b"12345"));
        assert_eq!(cache.get("a"), None);
        assert_eq!(cache.entries.lock().bytes, 0);
    }
}
