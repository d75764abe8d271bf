//! Access tokens that a messenger gives for a while. They are kept in memory, so that each server asks for one about once
//! in two hours, and not for each message.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The time before its expiry from which on a token is not used any more.
const EARLIER: Duration = Duration::from_secs(300);
/// The number of tokens from which on expired ones are removed. A config has at most eight channels.
const MANY: usize = 64;

/// The access tokens, by what they were asked with.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<HashMap<String, AccessToken>>);

/// A token, without being shown by `Debug`.
struct AccessToken {
    token: String,
    until: Instant,
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessToken").field("until", &self.until).finish_non_exhaustive()
    }
}

impl TokenCache {
    /// Returns the token that is valid now.
    pub(crate) fn get(&self, key: &str, now: Instant) -> Option<String> {
        self.0.lock().get(key).filter(|known| known.until > now).map(|known| known.token.clone())
    }

    /// Keeps a token that is valid for `lifetime`.
    pub(crate) fn set(&self, key: &str, token: String, lifetime: Duration, now: Instant) {
        let mut known = self.0.lock();
        if known.len() >= MANY {
            known.retain(|_, token| token.until > now);
        }
        known.insert(key.to_owned(), AccessToken { token, until: now + lifetime.saturating_sub(EARLIER) });
    }

    /// Forgets a token that the messenger refuses, unless another one was kept since.
    pub(crate) fn forget(&self, key: &str, token: &str) {
        let mut known = self.0.lock();
        if known.get(key).is_some_and(|known| known.token == token) {
            known.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_used_until_shortly_before_its_end() {
        let (cache, begin) = (TokenCache::default(), Instant::now());
        let check = |seconds: u64, expected: Option<&str>| {
            assert_eq!(cache.get("a", begin + Duration::from_secs(seconds)).as_deref(), expected, "{seconds}");
        };
        check(0, None);
        cache.set("a", "one".to_owned(), Duration::from_secs(7_200), begin);
        check(6_899, Some("one"));
        check(6_900, None);
        cache.forget("a", "another");
        check(1, Some("one"));
        cache.forget("a", "one");
        check(1, None);
        assert!(!format!("{:?}", cache.0.lock()).contains("one"));
    }

    #[test]
    fn number_of_known_tokens_is_bounded_by_those_that_are_valid() {
        let (cache, begin) = (TokenCache::default(), Instant::now());
        for number in 0..1_000 {
            cache.set(&number.to_string(), String::new(), Duration::from_secs(1), begin);
        }
        assert!(cache.0.lock().len() <= MANY);
    }
}
