//! Limits attempts to sign in. They are counted before the password is verified, so that concurrent
//! attempts do not exceed the limit.

use crate::forwarded::network;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The window for counting attempts.
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// The limits for a name from one address, for a name, and for an address. The second is higher
/// than the first, so that others can hardly lock a user out; the third is higher for offices with
/// a shared address.
const LIMITS: [u32; 3] = [10, 50, 200];
/// The limit on counts; beyond it, the oldest are removed.
const MAX_COUNTS: usize = 20_000;

/// Counts attempts.
#[derive(Default)]
pub struct Throttle {
    counts: Mutex<HashMap<ThrottleKey, AttemptCount>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum ThrottleKey {
    NameFrom(String, Option<IpAddr>),
    Name(String),
    Address(IpAddr),
}

struct AttemptCount {
    attempts: u32,
    began: Instant,
}

/// A refused attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttled {
    /// The number of seconds after which to try again.
    pub seconds: u64,
    /// The exceeded limit: `name` or `address`.
    pub limit: &'static str,
}

/// A counted attempt.
#[derive(Debug)]
pub struct SignInAttempt {
    /// `None` if only the limit for the address applies.
    name: Option<String>,
    address: Option<IpAddr>,
}

impl Throttle {
    /// Counts an attempt with a name.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn begin(&self, name: &str, address: Option<IpAddr>) -> Result<SignInAttempt, Throttled> {
        self.begin_at(Some(name), address, Instant::now())
    }

    /// Counts an attempt that guesses no name, for example an answer of a provider. Only the limit for the address applies.
    ///
    /// # Errors
    /// The limit is exceeded.
    pub fn begin_from(&self, address: Option<IpAddr>) -> Result<SignInAttempt, Throttled> {
        self.begin_at(None, address, Instant::now())
    }

    fn begin_at(&self, name: Option<&str>, address: Option<IpAddr>, now: Instant) -> Result<SignInAttempt, Throttled> {
        let one = SignInAttempt { name: name.map(str::to_owned), address };
        let mut counts = self.counts.lock();
        let left = |count: &AttemptCount| WINDOW.saturating_sub(now.duration_since(count.began));
        let full = one.limits().filter_map(|(counted, most)| {
            let count = counts.get(&counted).filter(|count| count.attempts >= most)?;
            let limit = if matches!(counted, ThrottleKey::Address(_)) { "address" } else { "name" };
            Some((left(count), limit)).filter(|(left, _)| !left.is_zero())
        });
        if let Some((wait, limit)) = full.max() {
            return Err(Throttled { seconds: wait.as_secs() + 1, limit });
        }
        if counts.len() + LIMITS.len() > MAX_COUNTS {
            evict(&mut counts, now);
        }
        for (counted, _) in one.limits() {
            let count = counts.entry(counted).or_insert(AttemptCount { attempts: 0, began: now });
            if left(count).is_zero() {
                *count = AttemptCount { attempts: 0, began: now };
            }
            count.attempts += 1;
        }
        Ok(one)
    }

    /// Uncounts a successful attempt.
    pub fn succeeded(&self, one: &SignInAttempt) {
        let mut counts = self.counts.lock();
        for (counted, _) in one.limits() {
            if let Some(count) = counts.get_mut(&counted) {
                count.attempts = count.attempts.saturating_sub(1);
            }
        }
    }
}

impl SignInAttempt {
    /// Returns the counts of the attempt, with their limits. An address counts as its network, so
    /// that a client cannot switch to another of its addresses; loopback is not counted.
    fn limits(&self) -> impl Iterator<Item = (ThrottleKey, u32)> {
        let address = self.address.and_then(network);
        let counted = [
            self.name.clone().map(|name| ThrottleKey::NameFrom(name, address)),
            self.name.clone().map(ThrottleKey::Name),
            address.map(ThrottleKey::Address),
        ];
        counted.into_iter().zip(LIMITS).filter_map(|(counted, most)| Some((counted?, most)))
    }
}

/// Removes expired counts; if that is not enough, also the older half.
fn evict(counts: &mut HashMap<ThrottleKey, AttemptCount>, now: Instant) {
    counts.retain(|_, count| now.duration_since(count.began) < WINDOW);
    if counts.len() > MAX_COUNTS / 2 {
        let mut began: Vec<_> = counts.values().map(|count| count.began).collect();
        began.sort_unstable();
        let middle = began[began.len() / 2];
        counts.retain(|_, count| count.began > middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([10, 0, 0, last]))
    }

    #[test]
    fn attempts_are_limited_by_name_and_address() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let one = |name: &str, from, seconds: u64| {
            throttle.begin_at(Some(name), from, now + Duration::from_secs(seconds)).map(drop)
        };
        for _ in 0..10 {
            assert_eq!(one("ada", address(1), 0), Ok(()));
        }
        assert_eq!(one("ada", address(1), 60), Err(Throttled { seconds: 14 * 60 + 1, limit: "name" }));
        assert_eq!(one("ada", address(2), 60), Ok(()), "not from elsewhere");
        assert_eq!(one("bob", address(1), 60), Ok(()), "not others");
        assert_eq!(one("ada", address(1), 15 * 60), Ok(()), "not for ever");
        for host in 0..10_u16 {
            let from = Some(IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, host]));
            assert_eq!(one("zoe", from, 0), Ok(()));
        }
        let other = Some(IpAddr::from([0x2001, 0xdb8, 0, 0, 9, 9, 9, 9]));
        assert!(one("zoe", other, 0).is_err(), "not with other addresses of the same network");
        for number in 0..60 {
            let _ = one("eve", address(number), 0);
        }
        assert!(one("eve", address(99), 0).is_err(), "not with one name from everywhere");
        for number in 0..250 {
            let _ = one(&format!("u{number}"), address(200), 0);
        }
        let refused = one("new", address(200), 0).err().map(|refused| refused.limit);
        assert_eq!(refused, Some("address"), "not with all names from one address");
        for number in 0..250 {
            let _ = one(&format!("v{number}"), Some(IpAddr::from([127, 0, 0, 1])), 0);
        }
        assert!(one("new", Some(IpAddr::from([127, 0, 0, 1])), 0).is_ok(), "a proxy stands for many");
    }

    #[test]
    fn attempts_without_a_name_count_for_their_address_only() {
        let throttle = Throttle::default();
        for _ in 0..200 {
            assert!(throttle.begin_from(address(1)).is_ok());
        }
        let limit = |from| throttle.begin_from(from).err().map(|refused| refused.limit);
        assert_eq!(limit(address(1)), Some("address"));
        assert_eq!(limit(address(2)), None);
        assert_eq!(limit(Some(IpAddr::from([127, 0, 0, 1]))), None);
        assert_eq!(throttle.counts.lock().len(), 2, "one for each address");
    }

    #[test]
    fn successful_attempts_do_not_count() {
        let throttle = Throttle::default();
        for _ in 0..100 {
            let one = throttle.begin("ada", address(1)).unwrap();
            throttle.succeeded(&one);
        }
    }

    #[test]
    fn number_of_counts_is_limited() {
        let throttle = Throttle::default();
        for number in 0..30_000 {
            let _ = throttle
                .begin(&format!("u{number}"), Some(IpAddr::from([10, 1, (number / 250) as u8, (number % 250) as u8])));
        }
        assert!(throttle.counts.lock().len() <= MAX_COUNTS);
    }
}
