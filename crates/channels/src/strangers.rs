//! Limits the answers to strangers and their attempts at codes. The state is in the memory of the server that
//! reads the messages, and bounded: strangers cost no rows.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The most chats and people that are remembered; beyond it, nobody new is answered.
const MAX_KNOWN: usize = 10_000;

/// Allows a number of events for each key in a time.
#[derive(Debug)]
pub(crate) struct Allowance {
    events: u32,
    time: Duration,
    used: Mutex<HashMap<String, (u32, Instant)>>,
}

impl Allowance {
    /// Allows `events` in `time` for each key.
    pub(crate) fn new(events: u32, time: Duration) -> Self {
        Self { events, time, used: Mutex::default() }
    }

    /// Counts an event. Returns whether it is allowed.
    pub(crate) fn allows(&self, key: &str, now: Instant) -> bool {
        self.allows_up_to(key, self.events, now)
    }

    /// Counts an event of a key that has a number of its own. Returns whether it is allowed.
    pub(crate) fn allows_up_to(&self, key: &str, most: u32, now: Instant) -> bool {
        let mut used = self.used.lock();
        if let Some((events, since)) = used.get_mut(key)
            && now.duration_since(*since) < self.time
        {
            *events = events.saturating_add(1);
            return *events <= most;
        }
        if used.len() >= MAX_KNOWN {
            used.retain(|_, (_, since)| now.duration_since(*since) < self.time);
            if used.len() >= MAX_KNOWN {
                return false;
            }
        }
        used.insert(key.to_owned(), (1, now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_number_of_events() {
        let allowance = Allowance::new(2, Duration::from_secs(60));
        let begin = Instant::now();
        let check = |key: &str, seconds: u64, expected: bool| {
            assert_eq!(allowance.allows(key, begin + Duration::from_secs(seconds)), expected, "{key} {seconds}");
        };
        check("a", 0, true);
        check("a", 1, true);
        check("a", 2, false);
        check("b", 2, true);
        check("a", 60, true);
        for key in 0..MAX_KNOWN {
            allowance.allows(&format!("k{key}"), begin + Duration::from_secs(61));
        }
        check("new", 61, false);
        check("new", 200, true);
    }
}
