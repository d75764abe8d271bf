//! What one call may cost: time, and entries of folders.

use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What is left for one call.
pub(super) struct Budget {
    until: Instant,
    entries: usize,
    cancel: CancellationToken,
}

/// Why a call ends before it has seen everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// Its time is over, or the run was stopped.
    Time,
    /// It has seen so many entries.
    Entries,
}

impl Budget {
    /// Time a walk may take.
    pub(super) const TIME: Duration = Duration::from_secs(5);
    /// Entries a walk may look at.
    pub(super) const ENTRIES: usize = 50_000;

    /// A whole budget, over at once when `cancel` is.
    pub(super) fn new(cancel: CancellationToken) -> Self {
        Self::of(Self::TIME, Self::ENTRIES, cancel)
    }

    /// This much.
    pub(super) fn of(time: Duration, entries: usize, cancel: CancellationToken) -> Self {
        Self { until: Instant::now() + time, entries, cancel }
    }

    /// Pays for one entry.
    pub(super) fn take_entry(&mut self) -> Result<(), Spent> {
        self.check_time()?;
        self.entries = self.entries.checked_sub(1).ok_or(Spent::Entries)?;
        Ok(())
    }

    /// Whether there is time left.
    pub(super) fn check_time(&self) -> Result<(), Spent> {
        match Instant::now() < self.until && !self.cancel.is_cancelled() {
            true => Ok(()),
            false => Err(Spent::Time),
        }
    }
}
