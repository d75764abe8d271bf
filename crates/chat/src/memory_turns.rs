//! The order in which running answers continue while memory is short: the oldest one first, to its
//! end, so that what it holds is given back before the next one grows. One that waits for
//! something else, such as a tool, lets the next one continue meanwhile.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How often a run that waits looks whether it may continue.
const LOOK: Duration = Duration::from_millis(25);
/// A run that has written nothing for this long loses its turn.
const STALLED: Duration = Duration::from_secs(1);

/// Whose turn it is.
#[derive(Default)]
pub(crate) struct Turns(Mutex<Order>);

/// Ids of runs begin with the time, so the first of them is the oldest.
#[derive(Default)]
struct Order {
    /// The run that continues, and when it last did.
    current: Option<(String, Instant)>,
    waiting: BTreeSet<String>,
}

impl Order {
    /// Whether this run may continue.
    fn may_continue(&mut self, id: &str, now: Instant) -> bool {
        let may = match &self.current {
            Some((current, _)) if current == id => true,
            Some((_, at)) if now.duration_since(*at) < STALLED => false,
            _ => self.waiting.first().is_none_or(|first| first == id),
        };
        if may {
            self.current = Some((id.to_owned(), now));
        }
        may
    }
}

/// A run that waits, until this is dropped.
struct Waiting<'a> {
    turns: &'a Turns,
    id: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.turns.0.lock().waiting.remove(self.id);
    }
}

impl Turns {
    /// Waits until it is the run's turn, or nobody has to wait any more.
    pub(crate) async fn take(&self, id: &str, is_open: impl Fn() -> bool) {
        {
            let mut order = self.0.lock();
            if order.may_continue(id, Instant::now()) {
                return;
            }
            order.waiting.insert(id.to_owned());
        }
        let _waiting = Waiting { turns: self, id };
        while !is_open() && !self.0.lock().may_continue(id, Instant::now()) {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends the run's turn, if it has it.
    pub(crate) fn end(&self, id: &str) {
        let mut order = self.0.lock();
        if order.current.as_ref().is_some_and(|(current, _)| current == id) {
            order.current = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_run_continues_to_its_end_unless_it_stalls() {
        let (turns, now) = (Turns::default(), Instant::now());
        let may = |id: &str, millis: u64| turns.0.lock().may_continue(id, now + Duration::from_millis(millis));
        assert!(may("b", 0), "nobody waits");
        turns.0.lock().waiting.extend(["a", "c"].map(str::to_owned));
        assert!(!may("a", 10) && !may("c", 10));
        assert!(may("b", 900), "it goes on");
        assert!(!may("a", 1_800), "it wrote less than a second ago");
        turns.end("b");
        assert!(!may("c", 1_800), "the oldest is first");
        assert!(may("a", 1_800));
        turns.0.lock().waiting.remove("a");
        turns.end("c");
        assert!(!may("c", 2_700), "it is not its turn that ended");
        assert!(may("c", 2_800), "the other one has stalled");
        assert!(!may("a", 2_900));
    }

    #[tokio::test]
    async fn nobody_waits_once_memory_is_no_longer_short() {
        let turns = Turns::default();
        turns.take("a", || false).await;
        turns.take("b", || true).await;
        assert!(turns.0.lock().waiting.is_empty());
        // A waiting run whose task is dropped is forgotten.
        let waiting = tokio::time::timeout(Duration::from_millis(50), turns.take("c", || false));
        assert!(waiting.await.is_err() && turns.0.lock().waiting.is_empty());
    }
}
