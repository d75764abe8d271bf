//! Counts, ids and names that only a careless peer sends, and bounds of what is held of a reply. See also [`crate::json`].

use crate::driver::broken;
use contract::ModelError;
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;

/// What codecs hold of one reply (arguments, items) until it is complete, in bytes.
const MAX_HELD: usize = 16 * 1024 * 1024;
/// Calls of one reply.
const MAX_CALLS: usize = 1_000;
/// The largest whole number that JavaScript holds exactly; a larger count is nonsense, and clients read counts.
const MAX_COUNT: f64 = 9_007_199_254_740_991.0;

/// A count of tokens. A negative one, or what is no number, is 0; a huge one is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let number: f64 = raw.get().trim_matches('"').parse().unwrap_or(0.0);
        // `as` turns what is not a number into 0.
        Ok(Self(number.clamp(0.0, MAX_COUNT) as u64))
    }
}

/// The ids of one reply's calls: the provider's own where it gave one and not twice.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashSet<String>);

impl CallIds {
    /// The id for a new call.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn name(&mut self, given: Option<String>) -> Result<String, ModelError> {
        if self.0.len() >= MAX_CALLS {
            return Err(broken("too many tool calls in one reply"));
        }
        let given = given.filter(|id| !id.trim().is_empty() && !self.0.contains(id));
        let id = given.unwrap_or_else(|| format!("call_{}", uuid::Uuid::now_v7().simple()));
        self.0.insert(id.clone());
        Ok(id)
    }
}

/// The name of a call that names no tool; the loop tells the model that there is no such tool.
pub(crate) fn tool_name(given: Option<String>) -> String {
    given.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "unnamed_tool".to_owned())
}

/// Calls that another provider made earlier in the conversation may have ids and names that an API refuses.
pub(crate) fn plain(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(fits) { id.into() } else { id.replace(|c| !fits(c), "_").into() }
}

/// Counts what is held of a reply.
#[derive(Debug, Default)]
pub(crate) struct Held(usize);

impl Held {
    /// Takes up more.
    ///
    /// # Errors
    /// When it is too much.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MAX_HELD { Err(broken("the arguments of the reply's tool calls are too large")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let check = |json: &str, expected| {
            assert_eq!(serde_json::from_str::<Option<Count>>(json).unwrap().map(|count| count.0), expected, "{json}");
        };
        check("null", None);
        check("12", Some(12));
        check("12.7", Some(12));
        check("\"12\"", Some(12));
        check("-3", Some(0));
        check("18446744073709551616", Some(9_007_199_254_740_991));
        check("1e999", Some(9_007_199_254_740_991));
        check("-1e999", Some(0));
        check("{\"a\":[1]}", Some(0));
        check("true", Some(0));
    }

    #[test]
    fn ids_of_calls() {
        let mut ids = CallIds::default();
        assert_eq!(ids.name(Some("a".to_owned())).unwrap(), "a");
        let minted = [Some("a"), Some(""), Some("  "), None].map(|id| ids.name(id.map(str::to_owned)).unwrap());
        assert!(minted.iter().all(|id| id.starts_with("call_") && id.len() <= 40), "{minted:?}");
        assert_eq!(HashSet::from(minted).len(), 4);
        assert!((0..MAX_CALLS).any(|_| ids.name(None).is_err()));
    }
}
