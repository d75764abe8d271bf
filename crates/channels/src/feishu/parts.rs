//! Events that come in several frames.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time within which all parts of an event come.
const LIFETIME: Duration = Duration::from_secs(10);
/// The maximum number of parts of an event.
const MAX_PARTS: usize = 256;
/// The maximum number of events of which some parts are missing.
const MAX_EVENTS: usize = 16;
/// The largest event in bytes.
const MAX_EVENT: usize = 1 << 20;
/// The longest id of an event in bytes.
const MAX_ID: usize = 256;

/// The parts of events of which others are missing.
#[derive(Default)]
pub(super) struct Parts(BTreeMap<String, Incomplete>);

struct Incomplete {
    begun: Instant,
    parts: Vec<Option<Vec<u8>>>,
}

impl Parts {
    /// Adds a part of an event: that with the number `seq`, from 0, of `sum`. Returns the whole event if it was the last
    /// missing part. An event beyond the limits is not kept; Feishu sends it again, because it is not acknowledged.
    pub(super) fn add(
        &mut self,
        event_id: &str,
        (seq, sum): (usize, usize),
        part: Vec<u8>,
        now: Instant,
    ) -> Option<Vec<u8>> {
        self.0.retain(|_, event| now.duration_since(event.begun) < LIFETIME);
        let has_room = self.0.len() < MAX_EVENTS || self.0.contains_key(event_id);
        if !has_room || seq >= sum || sum > MAX_PARTS || event_id.len() > MAX_ID {
            return None;
        }
        let begin = || Incomplete { begun: now, parts: vec![None; sum] };
        let event = self.0.entry(event_id.to_owned()).or_insert_with(begin);
        *event.parts.get_mut(seq)? = Some(part);
        let is_too_large = event.parts.iter().flatten().map(Vec::len).sum::<usize>() > MAX_EVENT;
        if !is_too_large && event.parts.iter().any(Option::is_none) {
            return None;
        }
        let event = self.0.remove(event_id).filter(|_| !is_too_large)?;
        Some(event.parts.into_iter().flatten().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_an_event_in_their_order() {
        let (mut parts, now) = (Parts::default(), Instant::now());
        let mut check = |id: &str, place, part: &str, expected: Option<&str>| {
            let whole = parts.add(id, place, part.as_bytes().to_vec(), now);
            assert_eq!(whole.as_deref(), expected.map(str::as_bytes), "{id} {place:?}");
        };
        check("a", (2, 3), "c", None);
        check("b", (0, 2), "x", None);
        check("a", (0, 3), "a", None);
        check("a", (0, 3), "a", None);
        check("a", (1, 3), "b", Some("abc"));
        check("b", (1, 2), "", Some("x"));
        // Numbers that are not possible, also beyond those of the first part.
        check("c", (2, 2), "x", None);
        check("c", (0, MAX_PARTS + 1), "x", None);
        check("c", (0, 2), "x", None);
        check("c", (2, 3), "x", None);
        check("c", (1, 2), "y", Some("xy"));
    }

    #[test]
    fn incomplete_events_are_bounded() {
        let (mut parts, now) = (Parts::default(), Instant::now());
        for number in 0..=MAX_EVENTS {
            assert_eq!(parts.add(&number.to_string(), (0, 2), vec![1], now), None);
        }
        assert_eq!(parts.0.len(), MAX_EVENTS);
        assert_eq!(parts.add("0", (1, 2), vec![0; MAX_EVENT], now), None);
        assert_eq!(parts.0.len(), MAX_EVENTS - 1);
        // After their time, the other ones are forgotten.
        assert_eq!(parts.add("1", (1, 2), vec![2], now + LIFETIME), None);
        assert_eq!(parts.0.len(), 1);
    }
}
