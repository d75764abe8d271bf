//! The audio of the newest parts, so that reading again costs nothing.

use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Audio in memory, up to a number of bytes. The parts that were not used for the longest time go first.
pub(crate) struct AudioCache {
    max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    parts: HashMap<String, Part>,
    bytes: usize,
    /// Counts the uses.
    clock: u64,
}

struct Part {
    audio: Bytes,
    last_use: u64,
}

impl AudioCache {
    /// Creates an empty cache.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, kept: Mutex::default() }
    }

    /// Returns the audio with this key.
    pub(crate) fn get(&self, key: &str) -> Option<Bytes> {
        let kept = &mut *self.kept.lock();
        kept.clock += 1;
        let part = kept.parts.get_mut(key)?;
        part.last_use = kept.clock;
        Some(part.audio.clone())
    }

    /// Keeps audio, unless it is larger than the cache.
    pub(crate) fn insert(&self, key: String, audio: Bytes) {
        let size = key.len() + audio.len();
        if size > self.max_bytes {
            return;
        }
        let kept = &mut *self.kept.lock();
        kept.remove(&key);
        while kept.bytes + size > self.max_bytes {
            let oldest = kept.parts.iter().min_by_key(|(_, part)| part.last_use).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            kept.remove(&oldest);
        }
        kept.clock += 1;
        kept.bytes += size;
        kept.parts.insert(key, Part { audio, last_use: kept.clock });
    }
}

impl Kept {
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
        let cache = AudioCache::new(12);
        let check = |expected: [bool; 3]| {
            let kept = ["a", "b", "c"].map(|key| cache.kept.lock().parts.contains_key(key));
            assert_eq!((kept, cache.kept.lock().bytes <= 12), (expected, true));
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
}
