//! Finds the due ticks between two instants.

use crate::Schedule;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The age up to which a tick is not missed.
pub const GRACE: SignedDuration = SignedDuration::from_secs(60);

/// The most ticks that are made up for, the newest ones.
pub const MAX_CAUGHT_UP: usize = 100;

/// The policy for ticks that were missed because no server was running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MissedTicks {
    /// They are left out.
    Skip,
    /// All of them together are made up for once.
    #[default]
    Once,
    /// Each of them is made up for, at most 100.
    All,
}

/// The ticks that are due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueTicks {
    /// The ticks to run, oldest first.
    pub ticks: Vec<Timestamp>,
    /// Whether there were others, which are left out.
    pub left_out: bool,
}

impl Schedule {
    /// Returns the ticks after `since` up to `now`, by the policy. None if `since` is not before
    /// `now`.
    pub fn due(&self, since: Timestamp, now: Timestamp, missed: MissedTicks) -> DueTicks {
        let is_new = |tick: &Timestamp| *tick > since;
        let mut passed =
            std::iter::successors(self.last_until(now).filter(is_new), |tick| self.last_before(*tick).filter(is_new));
        let mut ticks: Vec<Timestamp> = match missed {
            MissedTicks::Skip => {
                let on_time = |tick: &Timestamp| now.duration_since(*tick) <= GRACE;
                // At most two: a tick a minute.
                let newest: Vec<_> = passed.by_ref().take(MAX_CAUGHT_UP).take_while(on_time).collect();
                let left_out = match newest.last() {
                    Some(oldest) => self.last_before(*oldest).is_some_and(|tick| is_new(&tick)),
                    None => self.last_until(now).is_some_and(|tick| is_new(&tick)),
                };
                return DueTicks { ticks: newest.into_iter().rev().collect(), left_out };
            }
            MissedTicks::Once => passed.by_ref().take(1).collect(),
            MissedTicks::All => passed.by_ref().take(MAX_CAUGHT_UP).collect(),
        };
        ticks.reverse();
        DueTicks { ticks, left_out: passed.next().is_some() }
    }
}
