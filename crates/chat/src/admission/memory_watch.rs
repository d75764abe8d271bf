//! Samples the memory of the process, frees what is only kept for speed while it is short, and ends the largest runs while
//! it is almost used up.

use crate::Chat;
use crate::admission::memory::{MemoryGuard, MemoryProbe, MemoryStatus, MemoryTracker, MemoryUse};
use crate::outside::running::Invocations;
use crate::stream::live::RunRegistry;
use crate::submit::branch::known::KnownMessages;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};
use wire::EndReason;

/// The time between two samples while no work is active or much memory is free, and otherwise. A sample reads several
/// files of the system.
const CALM_INTERVAL: Duration = Duration::from_millis(100);
const BUSY_INTERVAL: Duration = Duration::from_millis(25);

/// With this many free bytes, memory does not run out between two samples.
const MUCH_FREE: u64 = 2 << 30;

impl Chat {
    /// Samples the memory of the process until the chat is closed. Only the first call has an
    /// effect.
    pub fn watch_memory(&self, probe: impl MemoryProbe) {
        let inner = &self.inner;
        let mut sampler = inner.memory.sampler.lock();
        if sampler.is_some() {
            return;
        }
        let is_wanted = Arc::new(());
        let watcher = MemoryWatcher {
            is_wanted: Arc::downgrade(&is_wanted),
            memory: Arc::downgrade(&inner.memory),
            registry: inner.registry.clone(),
            invocations: inner.invocations.clone(),
            known_messages: inner.known_messages.clone(),
            tracker: MemoryTracker::default(),
        };
        // A separate thread, because all workers may be busy when memory is used up.
        match thread::Builder::new().name("memory".to_owned()).spawn(move || watcher.run(probe)) {
            Ok(_) => *sampler = Some(is_wanted),
            Err(error) => tracing::error!(%error, "the memory of the process is not watched"),
        }
    }

    /// Returns the state of the memory as of the last sample.
    pub fn memory_status(&self) -> MemoryStatus {
        self.inner.memory.status()
    }
}

/// The sampling thread.
struct MemoryWatcher {
    is_wanted: Weak<()>,
    memory: Weak<MemoryGuard>,
    registry: Arc<RunRegistry>,
    invocations: Arc<Invocations>,
    known_messages: Arc<KnownMessages>,
    tracker: MemoryTracker,
}

impl MemoryWatcher {
    /// Samples until the chat is closed or dropped.
    fn run(mut self, mut probe: impl MemoryProbe) {
        while let Some(memory) = self.memory.upgrade().filter(|_| self.is_wanted.strong_count() > 0) {
            let is_idle = self.registry.len() == 0 && !self.invocations.is_any_running() && !memory.is_any_upload();
            let uses = probe.sample();
            let pause = interval(is_idle, &uses);
            if let Some(nearest) = uses.iter().max_by_key(|one| one.thousandths()).cloned() {
                let has_to_end = self.tracker.update(nearest.thousandths(), is_idle);
                memory.record(self.tracker.level, &nearest, uses);
                if has_to_end {
                    end_largest(&self.registry, &self.invocations);
                }
            }
            self.known_messages.forget(memory.is_short(), Instant::now());
            drop(memory);
            thread::sleep(pause);
        }
    }
}

/// Returns the time until the next sample.
fn interval(is_idle: bool, uses: &[MemoryUse]) -> Duration {
    let is_much_free = uses.iter().all(|one| one.limit.saturating_sub(one.used) >= MUCH_FREE);
    if is_idle || is_much_free { CALM_INTERVAL } else { BUSY_INTERVAL }
}

/// Ends the largest active run, the newest of several; without runs, the newest invocation.
fn end_largest(registry: &RunRegistry, invocations: &Invocations) {
    let running = registry.all().into_iter().filter(|run| !run.cancel.is_cancelled());
    // Ids start with the time, so the newest is the greatest.
    let largest = running.max_by_key(|run| (run.written(), run.identity.run_id.clone()));
    if let Some(run) = largest {
        let (bytes, id) = (run.written(), &run.identity.run_id);
        tracing::warn!(run = id, bytes, "an answer is ended because memory is almost used up");
        run.stop(EndReason::Memory);
    } else if let Some(id) = invocations.end_newest() {
        tracing::warn!(invocation = id, "an invocation is ended because memory is almost used up");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_sampled_more_often_while_work_is_active_and_little_is_free() {
        let check = |is_idle: bool, free: &[u64], expected: Duration| {
            let uses = free.iter().map(|free| MemoryUse { limited_by: "test", used: 1 << 30, limit: (1 << 30) + free });
            assert_eq!(interval(is_idle, &uses.collect::<Vec<_>>()), expected, "{is_idle} {free:?}");
        };
        check(true, &[0], CALM_INTERVAL);
        check(false, &[], CALM_INTERVAL);
        check(false, &[MUCH_FREE], CALM_INTERVAL);
        check(false, &[MUCH_FREE - 1], BUSY_INTERVAL);
        check(false, &[2 * MUCH_FREE, 0], BUSY_INTERVAL);
    }
}
