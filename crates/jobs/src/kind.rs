//! Kinds of jobs: how many run at once, and how often and after which pauses a failed one is tried
//! again.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A kind of jobs with payloads of the type `P`, as a constant of the crate whose work it is.
///
/// ```
/// use std::time::Duration;
/// # use jobs::{Backoff, Kind};
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Delivery {
///     address: String,
/// }
///
/// const DELIVERY: Kind<Delivery> =
///     Kind::new("channels.deliver").concurrency(8).attempts(10).timeout(Duration::from_secs(30));
/// ```
pub struct Kind<P> {
    policy: Policy,
    payload: PhantomData<fn(P) -> P>,
}

/// The properties of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) name: &'static str,
    pub(crate) lane: Lane,
    pub(crate) concurrency: usize,
    pub(crate) attempts: u32,
    pub(crate) backoff: Backoff,
    pub(crate) timeout: Duration,
    pub(crate) max_waiting: u64,
}

impl Policy {
    /// The properties of a kind that only its name is known of.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            lane: Lane::Background,
            concurrency: 4,
            attempts: 5,
            backoff: Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(600) },
            timeout: Duration::from_secs(300),
            max_waiting: 200_000,
        }
    }
}

/// Kinds that share the places of a server. A full lane does not delay the jobs of the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Somebody waits for the result: at most 64 jobs of a server at once.
    Interactive,
    /// Nobody does: at most 16 jobs of a server at once.
    Background,
}

impl Lane {
    /// Returns the number of jobs of the lane that a server runs at once.
    pub(crate) const fn places(self) -> usize {
        match self {
            Self::Interactive => 64,
            Self::Background => 16,
        }
    }
}

/// The pause after a failed attempt: `base`, doubled after each further one up to `cap`. Of that, a
/// random part between a half and all is waited, so that jobs that failed together do not come back
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first attempt.
    pub base: Duration,
    /// The longest pause.
    pub cap: Duration,
}

impl Backoff {
    /// Returns the pause after an attempt, counted from 1. `random` is between 0 and 1.
    pub(crate) fn pause(self, attempt: u32, random: f64) -> Duration {
        let doubled = self.base.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.cap).mul_f64(random.clamp(0.0, 1.0) / 2.0 + 0.5)
    }
}

impl<P> Kind<P> {
    /// A kind in the background: four at once, five attempts with pauses from a second to ten minutes,
    /// each of at most five minutes. The name has the form `crate.work` and is stored with each job, so
    /// it does not change.
    pub const fn new(name: &'static str) -> Self {
        Self { policy: Policy::new(name), payload: PhantomData }
    }

    /// The lane, if it is not [`Lane::Background`].
    #[must_use]
    pub const fn lane(self, lane: Lane) -> Self {
        Self { policy: Policy { lane, ..self.policy }, ..self }
    }

    /// The number of jobs that a server runs at once.
    #[must_use]
    pub const fn concurrency(self, concurrency: usize) -> Self {
        Self { policy: Policy { concurrency, ..self.policy }, ..self }
    }

    /// The number of attempts after which a job has failed for good.
    #[must_use]
    pub const fn attempts(self, attempts: u32) -> Self {
        Self { policy: Policy { attempts, ..self.policy }, ..self }
    }

    /// The pauses between attempts.
    #[must_use]
    pub const fn backoff(self, backoff: Backoff) -> Self {
        Self { policy: Policy { backoff, ..self.policy }, ..self }
    }

    /// How long an attempt may take.
    #[must_use]
    pub const fn timeout(self, timeout: Duration) -> Self {
        Self { policy: Policy { timeout, ..self.policy }, ..self }
    }

    /// How many jobs may wait; beyond about that many, [`crate::Jobs::enqueue`] fails.
    #[must_use]
    pub const fn max_waiting(self, max_waiting: u64) -> Self {
        Self { policy: Policy { max_waiting, ..self.policy }, ..self }
    }

    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        self.policy.name
    }

    pub(crate) const fn policy(&self) -> Policy {
        self.policy
    }
}

impl<P> Clone for Kind<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Kind<P> {}

impl<P> fmt::Debug for Kind<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_cap_and_are_jittered() {
        let backoff = Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(60) };
        let check = |attempt: u32, random: f64, expected: f64| {
            assert_eq!(backoff.pause(attempt, random).as_secs_f64(), expected, "{attempt} {random}");
        };
        check(1, 1.0, 1.0);
        check(1, 0.0, 0.5);
        check(2, 1.0, 2.0);
        check(4, 0.5, 6.0);
        check(7, 1.0, 60.0);
        check(500, 0.0, 30.0);
    }
}
