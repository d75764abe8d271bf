//! How often somebody may try (A36). Tries are counted before the password is looked at, so that many at once do not slip through.

use crate::auth::forwarded::network;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Tries are counted for as long.
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// With one name from one address, with one name, from one address. The second is higher than the first, so that others can hardly
/// lock a user out; the third, so that an office can sign in.
const MOST: [u32; 3] = [10, 50, 200];
/// What is counted at once; beyond it, what began first is forgotten.
const MAX_COUNTS: usize = 20_000;

/// Counts tries.
#[derive(Default)]
pub(crate) struct Throttle {
    counts: Mutex<HashMap<Counted, Count>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Counted {
    NameFrom(String, Option<IpAddr>),
    Name(String),
    Address(IpAddr),
}

struct Count {
    tries: u32,
    began: Instant,
}

/// A try that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// In how many seconds to come again.
    pub(crate) seconds: u64,
    /// What was tried too often: a `name`, or anything from one `address`.
    pub(crate) limit: &'static str,
}

/// A try that counts, unless it succeeds.
#[derive(Debug)]
pub(crate) struct Try {
    name: String,
    address: Option<IpAddr>,
}

impl Throttle {
    /// Counts a try.
    ///
    /// # Errors
    /// There were too many.
    pub(crate) fn begin(&self, name: &str, address: Option<IpAddr>) -> Result<Try, Refused> {
        self.begin_at(name, address, Instant::now())
    }

    fn begin_at(&self, name: &str, address: Option<IpAddr>, now: Instant) -> Result<Try, Refused> {
        let one = Try { name: name.to_owned(), address };
        let mut counts = self.counts.lock();
        let left = |count: &Count| WINDOW.saturating_sub(now.duration_since(count.began));
        let full = one.counted().filter_map(|(counted, most)| {
            let count = counts.get(&counted).filter(|count| count.tries >= most)?;
            let limit = if matches!(counted, Counted::Address(_)) { "address" } else { "name" };
            Some((left(count), limit)).filter(|(left, _)| !left.is_zero())
        });
        if let Some((wait, limit)) = full.max() {
            return Err(Refused { seconds: wait.as_secs() + 1, limit });
        }
        if counts.len() + MOST.len() > MAX_COUNTS {
            make_room(&mut counts, now);
        }
        for (counted, _) in one.counted() {
            let count = counts.entry(counted).or_insert(Count { tries: 0, began: now });
            if left(count).is_zero() {
                *count = Count { tries: 0, began: now };
            }
            count.tries += 1;
        }
        Ok(one)
    }

    /// It was the right one: only those that fail count.
    pub(crate) fn succeeded(&self, one: &Try) {
        let mut counts = self.counts.lock();
        for (counted, _) in one.counted() {
            if let Some(count) = counts.get_mut(&counted) {
                count.tries = count.tries.saturating_sub(1);
            }
        }
    }
}

impl Try {
    /// What it counts for, and how many are allowed there. An address is counted as its network, so that nobody
    /// escapes with another address of their own; loopback is not counted, as for rates.
    fn counted(&self) -> impl Iterator<Item = (Counted, u32)> {
        let address = self.address.and_then(network);
        let counted = [
            Some(Counted::NameFrom(self.name.clone(), address)),
            Some(Counted::Name(self.name.clone())),
            address.map(Counted::Address),
        ];
        counted.into_iter().zip(MOST).filter_map(|(counted, most)| Some((counted?, most)))
    }
}

/// Forgets what is over; if that is not enough, the older half.
fn make_room(counts: &mut HashMap<Counted, Count>, now: Instant) {
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
    fn tries_are_bounded() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let one = |name: &str, from, seconds: u64| {
            throttle.begin_at(name, from, now + Duration::from_secs(seconds)).map(drop)
        };
        for _ in 0..10 {
            assert_eq!(one("ada", address(1), 0), Ok(()));
        }
        assert_eq!(one("ada", address(1), 60), Err(Refused { seconds: 14 * 60 + 1, limit: "name" }));
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
    fn what_succeeds_does_not_count() {
        let throttle = Throttle::default();
        for _ in 0..100 {
            let one = throttle.begin("ada", address(1)).unwrap();
            throttle.succeeded(&one);
        }
    }

    #[test]
    fn what_is_counted_is_bounded() {
        let throttle = Throttle::default();
        for number in 0..30_000 {
            let _ = throttle
                .begin(&format!("u{number}"), Some(IpAddr::from([10, 1, (number / 250) as u8, (number % 250) as u8])));
        }
        assert!(throttle.counts.lock().len() <= MAX_COUNTS);
    }
}
