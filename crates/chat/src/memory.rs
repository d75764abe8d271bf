//! Keeps the process below the limits on its memory. A failed allocation aborts a Rust process,
//! with all answers that it writes. So while memory is short, new work is refused and running
//! answers continue one after the other; before nothing is left, the largest ones are ended.

use crate::invoke::Invocations;
use crate::live::{LiveRun, Registry};
use crate::memory_turns::Turns;
use crate::{Chat, errors};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;
use wire::{EndReason, UserError};

/// Time between two samples while nothing runs, and while something does.
const EVERY: Duration = Duration::from_millis(100);
const EVERY_AT_WORK: Duration = Duration::from_millis(25);

/// All thresholds are in thousandths of a limit. From here on, memory is short.
const HIGH: u64 = 800;
/// The threshold above is at most this, however much an idle process keeps.
const HIGHEST: u64 = 900;
/// From here on, running answers are ended.
const CRITICAL: u64 = 920;
/// How far usage falls below a threshold before the level changes back.
const GAP: u64 = 30;
/// The growth that counts: since the process was idle, and since the last answer was ended. What
/// an answer gives back stays with the allocator, so usage rarely falls; as long as it does not
/// grow, what was freed is used again.
const GROWTH: u64 = 10;

/// What is used of one limit on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The name of the limit, for logs and metrics.
    pub limited_by: &'static str,
    /// Bytes that count towards the limit.
    pub used: u64,
    /// The limit in bytes.
    pub limit: u64,
}

impl MemoryUse {
    /// The used share of the limit, in thousandths.
    pub fn thousandths(&self) -> u64 {
        self.used.saturating_mul(1_000) / self.limit.max(1)
    }
}

/// Reads how much memory the process uses of each limit that it has.
pub trait MemoryProbe: Send + 'static {
    /// One sample; empty where no limit is known.
    fn sample(&mut self) -> Vec<MemoryUse>;
}

/// How much memory is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLevel {
    /// Enough.
    #[default]
    Ample,
    /// Little: new work is refused while other work runs, and running answers continue one after
    /// the other.
    Short,
    /// Hardly any: running answers are ended as well.
    Critical,
}

/// The state of the memory, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFacts {
    /// How much is left.
    pub level: MemoryLevel,
    /// The last sample.
    pub uses: Vec<MemoryUse>,
    /// Sends, invocations and uploads that were refused.
    pub refused: u64,
}

/// Decides by the samples.
#[derive(Debug, Default)]
struct Judge {
    level: MemoryLevel,
    /// Usage when nothing ran, as of the last time.
    idle: u64,
    /// Usage when an answer was last ended, or the lowest since then.
    ended_at: Option<u64>,
}

impl Judge {
    /// Takes the usage of the limit that is used most; returns whether an answer has to end.
    fn take(&mut self, usage: u64, is_idle: bool) -> bool {
        if is_idle {
            self.idle = usage;
        }
        let high = HIGH.max(HIGHEST.min(self.idle + GROWTH));
        // An idle process does not grow, so nothing is held against it.
        let reaches = |threshold: u64, held: bool| usage + if held && !is_idle { GAP } else { 0 } >= threshold;
        self.level = if reaches(CRITICAL, self.level == MemoryLevel::Critical) {
            MemoryLevel::Critical
        } else if reaches(high, self.level != MemoryLevel::Ample) {
            MemoryLevel::Short
        } else {
            MemoryLevel::Ample
        };
        if self.level != MemoryLevel::Critical {
            self.ended_at = None;
            return false;
        }
        let has_to_end = usage >= CRITICAL && self.ended_at.is_none_or(|ended_at| usage >= ended_at + GROWTH);
        self.ended_at = match self.ended_at {
            Some(ended_at) if !has_to_end => Some(ended_at.min(usage)),
            _ if has_to_end => Some(usage),
            none => none,
        };
        has_to_end
    }
}

/// What the samples say, for those who admit work.
#[derive(Default)]
pub(crate) struct Memory {
    facts: Mutex<MemoryFacts>,
    /// Whether the level is another one than `Ample`; read at each event of each run.
    is_short: AtomicBool,
    refused: AtomicU64,
    /// Held by each upload.
    uploads: Arc<()>,
    /// Which run continues while memory is short.
    turns: Turns,
    /// Held by who takes the samples, for as long as it is to take them.
    sampler: Mutex<Option<Arc<()>>>,
}

impl Memory {
    /// Whether work may begin only where nothing else runs. Work alone is admitted, whatever the
    /// samples say: memory that the allocator keeps would otherwise close the server for good.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }

    /// Waits for the turn of a run while memory is short. A run that is ended waits for nothing.
    pub(crate) async fn take_turn(&self, run: &LiveRun) {
        let is_open = || !self.is_short() || run.cancel.is_cancelled();
        if !is_open() {
            self.turns.take(&run.identity.run_id, is_open).await;
        }
    }

    /// Lets the next run continue, if it was the turn of this one.
    pub(crate) fn end_turn(&self, run: &LiveRun) {
        self.turns.end(&run.identity.run_id);
    }

    /// Refuses work while memory is short and something `is_running`.
    pub(crate) fn admit(&self, is_running: bool) -> Result<(), UserError> {
        if is_running && self.is_short() { Err(self.refuse()) } else { Ok(()) }
    }

    /// The refusal, which is counted.
    pub(crate) fn refuse(&self) -> UserError {
        self.refused.fetch_add(1, Ordering::Relaxed);
        errors::memory_short()
    }

    /// Admits an upload, which counts as running until the result is dropped.
    pub(crate) fn admit_upload(&self, is_running: bool) -> Result<Arc<()>, UserError> {
        self.admit(is_running || self.is_any_upload())?;
        Ok(self.uploads.clone())
    }

    pub(crate) fn facts(&self) -> MemoryFacts {
        MemoryFacts { refused: self.refused.load(Ordering::Relaxed), ..self.facts.lock().clone() }
    }

    /// Ends the sampling.
    pub(crate) fn close(&self) {
        self.sampler.lock().take();
    }

    fn is_any_upload(&self) -> bool {
        Arc::strong_count(&self.uploads) > 1
    }

    /// Notes a sample, and logs a level that differs from the one before.
    fn note(&self, level: MemoryLevel, nearest: &MemoryUse, uses: Vec<MemoryUse>) {
        let before = {
            let mut facts = self.facts.lock();
            facts.uses = uses;
            std::mem::replace(&mut facts.level, level)
        };
        self.is_short.store(level != MemoryLevel::Ample, Ordering::Relaxed);
        let MemoryUse { limited_by, used, limit } = nearest;
        match level {
            _ if level == before => {}
            MemoryLevel::Ample => tracing::info!(used, limit, limited_by, "memory is no longer short"),
            MemoryLevel::Short => tracing::warn!(
                used,
                limit,
                limited_by,
                "memory is short: new answers, invocations and uploads are refused while others run, which continue one after \
                 the other"
            ),
            MemoryLevel::Critical => tracing::error!(
                used,
                limit,
                limited_by,
                "memory is almost used up: running answers are ended, the largest first, while it grows"
            ),
        }
    }
}

impl Chat {
    /// Watches the memory of the process until the chat is closed. Only the first call counts.
    pub fn watch_memory(&self, probe: impl MemoryProbe) {
        let inner = &self.inner;
        let mut sampler = inner.memory.sampler.lock();
        if sampler.is_some() {
            return;
        }
        let is_wanted = Arc::new(());
        let watch = Watch {
            is_wanted: Arc::downgrade(&is_wanted),
            memory: Arc::downgrade(&inner.memory),
            registry: inner.registry.clone(),
            invocations: inner.invocations.clone(),
            judge: Judge::default(),
        };
        // A thread of its own: the workers may all be busy when memory is used up.
        match thread::Builder::new().name("memory".to_owned()).spawn(move || watch.run(probe)) {
            Ok(_) => *sampler = Some(is_wanted),
            Err(error) => tracing::error!(%error, "the memory of the process is not watched"),
        }
    }

    /// The state of the memory, as of the last sample.
    pub fn memory(&self) -> MemoryFacts {
        self.inner.memory.facts()
    }
}

/// Takes the samples, and acts on them.
struct Watch {
    is_wanted: Weak<()>,
    memory: Weak<Memory>,
    registry: Arc<Registry>,
    invocations: Arc<Invocations>,
    judge: Judge,
}

impl Watch {
    /// Runs until the chat is closed or dropped.
    fn run(mut self, mut probe: impl MemoryProbe) {
        while let Some(memory) = self.memory.upgrade().filter(|_| self.is_wanted.strong_count() > 0) {
            let is_idle = self.registry.len() == 0 && !self.invocations.is_any_running() && !memory.is_any_upload();
            let uses = probe.sample();
            if let Some(nearest) = uses.iter().max_by_key(|one| one.thousandths()).cloned() {
                let has_to_end = self.judge.take(nearest.thousandths(), is_idle);
                memory.note(self.judge.level, &nearest, uses);
                if has_to_end {
                    end_one(&self.registry, &self.invocations);
                }
            }
            drop(memory);
            thread::sleep(if is_idle { EVERY } else { EVERY_AT_WORK });
        }
    }
}

/// Ends the largest running answer, of equal ones the newest; without any, the newest invocation.
fn end_one(registry: &Registry, invocations: &Invocations) {
    let running = registry.all().into_iter().filter(|run| !run.cancel.is_cancelled());
    // Ids begin with the time, so the newest is the greatest.
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
    use super::MemoryLevel::{Ample, Critical, Short};
    use super::*;

    #[test]
    fn level_follows_usage_and_answers_end_while_it_grows() {
        let mut judge = Judge::default();
        // Usage, the level after it, and whether an answer ends.
        let samples = [
            (0, Ample, false),
            (799, Ample, false),
            (800, Short, false),
            (771, Short, false),
            (769, Ample, false),
            (799, Ample, false),
            (919, Short, false),
            (920, Critical, true),
            (920, Critical, false),
            (929, Critical, false),
            (930, Critical, true),
            (960, Critical, true),
            // It fell and grows again: growth counts from where it fell to.
            (935, Critical, false),
            (944, Critical, false),
            (945, Critical, true),
            (891, Critical, false),
            (905, Critical, false),
            (921, Critical, true),
            (889, Short, false),
            (1_050, Critical, true),
            (0, Ample, false),
        ];
        for (at, (usage, level, ends)) in samples.into_iter().enumerate() {
            assert_eq!((judge.take(usage, false), judge.level), (ends, level), "sample {at}: {usage}");
        }
    }

    /// Otherwise the server would stay closed for what the allocator keeps.
    #[test]
    fn what_an_idle_process_keeps_is_not_short() {
        let mut judge = Judge::default();
        // Usage, whether nothing runs, and the level after it.
        let samples = [
            (850, false, Short),
            (850, true, Ample),
            (859, false, Ample),
            (860, false, Short),
            (831, false, Short),
            (829, false, Ample),
            (300, true, Ample),
            (800, false, Short),
            // So little is left that answers go one at a time.
            (899, true, Ample),
            (900, false, Short),
            (910, true, Short),
            (930, true, Critical),
            (919, true, Short),
        ];
        for (at, (usage, is_idle, level)) in samples.into_iter().enumerate() {
            judge.take(usage, is_idle);
            assert_eq!(judge.level, level, "sample {at}: {usage}");
        }
    }

    #[test]
    fn work_is_refused_beside_other_work_only() {
        let memory = Memory::default();
        assert!(memory.admit(true).is_ok());
        memory.is_short.store(true, Ordering::Relaxed);
        assert!(memory.admit(false).is_ok());
        let refused = memory.admit(true).err().unwrap();
        assert_eq!((refused.code.status(), refused.retry_after), (503, Some(5)));
        let upload = memory.admit_upload(false).unwrap();
        assert!(memory.admit_upload(false).is_err(), "beside another upload");
        drop(upload);
        assert!(memory.admit_upload(false).is_ok());
        assert!(memory.admit_upload(true).is_err(), "beside an answer");
        assert_eq!(memory.facts().refused, 3);
    }
}
