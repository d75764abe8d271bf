//! The order in which runs continue while memory is short: the oldest one first until its end, so
//! that its memory is freed before the next one grows. While the current run waits for something
//! else, such as a tool, the next one continues.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The polling interval of a waiting run.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// A run that has written nothing for this long is no longer the current one.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);

/// The order of the runs.
#[derive(Default)]
pub(crate) struct MemoryTurns(Mutex<TurnOrder>);

/// The current run and the waiting ones. Ids start with the time, so the first is the oldest.
#[derive(Default)]
struct TurnOrder {
    /// The current run, and when it last continued.
    current: Option<(String, Instant)>,
    waiting: BTreeSet<String>,
}

impl TurnOrder {
    /// Returns whether a run may continue, and makes it the current one.
    fn may_continue(&mut self, id: &str, now: Instant) -> bool {
        let may = match &self.current {
            Some((current, _)) if current == id => true,
            Some((_, at)) if now.duration_since(*at) < STALL_TIMEOUT => false,
            _ => self.waiting.first().is_none_or(|first| first == id),
        };
        if may {
            self.current = Some((id.to_owned(), now));
        }
        may
    }
}

/// A waiting run; removed from the order when dropped.
struct WaitingRun<'a> {
    turns: &'a MemoryTurns,
    id: &'a str,
}

impl Drop for WaitingRun<'_> {
    fn drop(&mut self) {
        self.turns.0.lock().waiting.remove(self.id);
    }
}

impl MemoryTurns {
    /// Waits until the run may continue, or until `is_open` returns true.
    pub(crate) async fn wait(&self, id: &str, is_open: impl Fn() -> bool) {
        {
            let mut order = self.0.lock();
            if order.may_continue(id, Instant::now()) {
                return;
            }
            order.waiting.insert(id.to_owned());
        }
        let _waiting = WaitingRun { turns: self, id };
        while !is_open() && !self.0.lock().may_continue(id, Instant::now()) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Ends the run's turn, if it is the current one.
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
        let (turns, now) = (MemoryTurns::default(), Instant::now());
        let may = |id: &str, millis: u64| turns.0.lock().may_continue(id, now + Duration::from_millis(millis));
        assert!(may("b", 0), "nobody waits");
        turns.0.lock().waiting.extend(["a", "c"].map(str::to_owned));
        assert!(!may("a", 10) && !may("c", 10));
        assert!(may("b", 900), "it continues");
        assert!(!may("a", 1_800), "it wrote less than a second ago");
        turns.end("b");
        assert!(!may("c", 1_800), "the oldest is first");
        assert!(may("a", 1_800));
        turns.0.lock().waiting.remove("a");
        turns.end("c");
        assert!(!may("c", 2_700), "another run's end does not matter");
        assert!(may("c", 2_800), "the other one has stalled");
        assert!(!may("a", 2_900));
    }

    #[tokio::test]
    async fn no_run_waits_once_memory_is_ample() {
        let turns = MemoryTurns::default();
        turns.wait("a", || false).await;
        turns.wait("b", || true).await;
        assert!(turns.0.lock().waiting.is_empty());
        // A waiting run whose task is dropped is removed.
        let waiting = tokio::time::timeout(Duration::from_millis(50), turns.wait("c", || false));
        assert!(waiting.await.is_err() && turns.0.lock().waiting.is_empty());
    }
}
