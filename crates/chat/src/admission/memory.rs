//! Keeps the process within its memory limits, because a failed allocation aborts a Rust process
//! with all its runs. While memory is short, new work is refused and active runs continue one after
//! the other; while it is almost used up, the largest runs are ended.

use crate::admission::memory_turns::MemoryTurns;
use crate::errors;
use crate::stream::live::LiveRun;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wire::UserError;

/// Memory is short from this usage on. All thresholds are in thousandths of a limit.
const SHORT_THRESHOLD: u64 = 800;
/// The maximum of the threshold above, which otherwise depends on the usage of the idle process.
const MAX_SHORT_THRESHOLD: u64 = 900;
/// Runs are ended from this usage on.
const CRITICAL_THRESHOLD: u64 = 920;
/// How far usage must fall below a threshold before the level changes back.
const HYSTERESIS: u64 = 30;
/// The minimum growth since the process was idle, or since the last run was ended. Usage rarely
/// falls, because the allocator keeps freed memory; as long as usage does not grow, that memory is
/// being reused.
const MIN_GROWTH: u64 = 10;

/// The usage of one memory limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The name of the limit, for logs and metrics.
    pub limited_by: &'static str,
    /// The bytes that count towards the limit.
    pub used: u64,
    /// The limit in bytes.
    pub limit: u64,
}

impl MemoryUse {
    /// Returns the usage in thousandths of the limit.
    pub fn thousandths(&self) -> u64 {
        self.used.saturating_mul(1_000) / self.limit.max(1)
    }
}

/// Measures the memory usage of the process.
pub trait MemoryProbe: Send + 'static {
    /// Returns the usage of each known limit; empty if there is none.
    fn sample(&mut self) -> Vec<MemoryUse>;
}

/// The amount of free memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLevel {
    /// Enough is free.
    #[default]
    Ample,
    /// Little is free: new work is refused while other work is active, and active runs continue one
    /// after the other.
    Short,
    /// Hardly any is free: runs are ended as well.
    Critical,
}

/// The state of the memory, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStatus {
    /// The current level.
    pub level: MemoryLevel,
    /// The last sample.
    pub uses: Vec<MemoryUse>,
    /// The number of submissions, invocations and uploads that were refused.
    pub refused: u64,
}

/// Determines the level from the samples.
#[derive(Debug, Default)]
pub(super) struct MemoryTracker {
    pub(super) level: MemoryLevel,
    /// The last usage while no work was active.
    idle: u64,
    /// The usage when a run was last ended, or the lowest since then.
    ended_at: Option<u64>,
}

impl MemoryTracker {
    /// Updates the level for the usage of the most used limit. Returns whether a run must be ended.
    pub(super) fn update(&mut self, usage: u64, is_idle: bool) -> bool {
        if is_idle {
            self.idle = usage;
        }
        let high = SHORT_THRESHOLD.max(MAX_SHORT_THRESHOLD.min(self.idle + MIN_GROWTH));
        // The margin keeps the level while the usage varies. An idle process needs none: its usage does not grow.
        let reaches = |threshold: u64, held: bool| usage + if held && !is_idle { HYSTERESIS } else { 0 } >= threshold;
        self.level = if reaches(CRITICAL_THRESHOLD, self.level == MemoryLevel::Critical) {
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
        let has_to_end =
            usage >= CRITICAL_THRESHOLD && self.ended_at.is_none_or(|ended_at| usage >= ended_at + MIN_GROWTH);
        self.ended_at = match self.ended_at {
            Some(ended_at) if !has_to_end => Some(ended_at.min(usage)),
            _ if has_to_end => Some(usage),
            none => none,
        };
        has_to_end
    }
}

/// The current state of the memory, for admission checks.
#[derive(Default)]
pub(crate) struct MemoryGuard {
    status: Mutex<MemoryStatus>,
    /// Whether the level is not `Ample`; read at each event of each run.
    is_short: AtomicBool,
    refused: AtomicU64,
    /// Each active upload holds a clone.
    uploads: Arc<()>,
    /// The order in which runs continue while memory is short.
    turns: MemoryTurns,
    /// Keeps the sampling thread running; the thread ends when it is removed.
    pub(super) sampler: Mutex<Option<Arc<()>>>,
}

impl MemoryGuard {
    /// Returns whether memory is short, so that work is admitted only if no other work is active. A
    /// single task is always admitted, because the allocator may keep freed memory, and the server
    /// would otherwise refuse all work forever.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }

    /// Waits until a run may continue while memory is short. A cancelled run does not wait.
    pub(crate) async fn wait_turn(&self, run: &LiveRun) {
        let is_open = || !self.is_short() || run.cancel.is_cancelled();
        if !is_open() {
            self.turns.wait(&run.identity.run_id, is_open).await;
        }
    }

    /// Lets the next run continue, if this one was the current one.
    pub(crate) fn end_turn(&self, run: &LiveRun) {
        self.turns.end(&run.identity.run_id);
    }

    /// Refuses work while memory is short and other work is active (`is_running`).
    pub(crate) fn admit(&self, is_running: bool) -> Result<(), UserError> {
        if is_running && self.is_short() { Err(self.refuse()) } else { Ok(()) }
    }

    /// Counts and returns the error for refused work.
    pub(crate) fn refuse(&self) -> UserError {
        self.refused.fetch_add(1, Ordering::Relaxed);
        errors::memory_short()
    }

    /// Admits an upload, which counts as active until the result is dropped.
    pub(crate) fn admit_upload(&self, is_running: bool) -> Result<Arc<()>, UserError> {
        self.admit(is_running || self.is_any_upload())?;
        Ok(self.uploads.clone())
    }

    pub(crate) fn status(&self) -> MemoryStatus {
        MemoryStatus { refused: self.refused.load(Ordering::Relaxed), ..self.status.lock().clone() }
    }

    /// Ends the sampling.
    pub(crate) fn close(&self) {
        self.sampler.lock().take();
    }

    pub(super) fn is_any_upload(&self) -> bool {
        Arc::strong_count(&self.uploads) > 1
    }

    /// Records a sample, and logs a change of the level.
    pub(super) fn record(&self, level: MemoryLevel, nearest: &MemoryUse, uses: Vec<MemoryUse>) {
        let before = {
            let mut status = self.status.lock();
            status.uses = uses;
            std::mem::replace(&mut status.level, level)
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

#[cfg(test)]
mod tests {
    use super::MemoryLevel::{Ample, Critical, Short};
    use super::*;

    #[test]
    fn level_follows_usage_and_answers_end_while_it_grows() {
        let mut tracker = MemoryTracker::default();
        // The usage, the level after it, and whether a run is ended.
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
            // Usage fell and grows again: growth counts from the lowest usage.
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
            assert_eq!((tracker.update(usage, false), tracker.level), (ends, level), "sample {at}: {usage}");
        }
    }

    /// Otherwise the server would refuse work forever because of memory that the allocator keeps.
    #[test]
    fn memory_kept_by_an_idle_process_is_not_short() {
        let mut tracker = MemoryTracker::default();
        // The usage, whether the process is idle, and the level after it.
        let samples = [
            (850, false, Short),
            (850, true, Ample),
            (859, false, Ample),
            (860, false, Short),
            (831, false, Short),
            (829, false, Ample),
            (300, true, Ample),
            (800, false, Short),
            // So little is free that runs continue one at a time.
            (899, true, Ample),
            (900, false, Short),
            (910, true, Short),
            (930, true, Critical),
            (919, true, Short),
        ];
        for (at, (usage, is_idle, level)) in samples.into_iter().enumerate() {
            tracker.update(usage, is_idle);
            assert_eq!(tracker.level, level, "sample {at}: {usage}");
        }
    }

    #[test]
    fn work_is_refused_only_while_other_work_runs() {
        let memory = MemoryGuard::default();
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
        assert_eq!(memory.status().refused, 3);
    }
}
