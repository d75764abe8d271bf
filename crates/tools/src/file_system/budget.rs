//! The budget of one call: time, and folder entries.

use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The remaining budget of one call.
pub(super) struct WalkBudget {
    until: Instant,
    entries: usize,
    cancel: CancellationToken,
}

/// The part of the budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BudgetLimit {
    /// The time is over, or the run was stopped.
    Time,
    /// The maximum number of entries was visited.
    Entries,
}

impl WalkBudget {
    /// The maximum duration of a walk.
    pub(super) const TIME: Duration = Duration::from_secs(5);
    /// The maximum number of entries that a walk visits.
    pub(super) const ENTRIES: usize = 50_000;

    /// Creates a full budget, which is used up at once when `cancel` is cancelled.
    pub(super) fn new(cancel: CancellationToken) -> Self {
        Self::with_limits(Self::TIME, Self::ENTRIES, cancel)
    }

    /// Creates a budget of this size.
    pub(super) fn with_limits(time: Duration, entries: usize, cancel: CancellationToken) -> Self {
        Self { until: Instant::now() + time, entries, cancel }
    }

    /// Spends one entry.
    pub(super) fn take_entry(&mut self) -> Result<(), BudgetLimit> {
        self.check_time()?;
        self.entries = self.entries.checked_sub(1).ok_or(BudgetLimit::Entries)?;
        Ok(())
    }

    /// Fails if no time is left.
    pub(super) fn check_time(&self) -> Result<(), BudgetLimit> {
        if Instant::now() < self.until && !self.cancel.is_cancelled() { Ok(()) } else { Err(BudgetLimit::Time) }
    }
}
