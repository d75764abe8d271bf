//! Token counts, ids and names as careless providers and gateways send them, and limits for what is
//! buffered of a reply. See also [`crate::json`].

use crate::driver::stream_error;
use contract::ModelError;
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of bytes of a reply (arguments, items) that a codec buffers until it is
/// complete.
const MAX_BUFFERED: usize = 16 * 1024 * 1024;
/// The maximum number of tool calls in a reply.
const MAX_CALLS: usize = 1_000;
/// The largest integer that JavaScript represents exactly. Clients read the counts, and a larger
/// one is invalid.
const MAX_COUNT: f64 = 9_007_199_254_740_991.0;

/// The beginning of ids that are made; a UUID follows.
const MADE_ID: &str = "call_";

/// A number of tokens. A negative or invalid one is 0, a huge one is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCount(pub(crate) u64);

impl<'de> Deserialize<'de> for TokenCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let number: f64 = raw.get().trim_matches('"').parse().unwrap_or(0.0);
        // `as` converts NaN to 0.
        Ok(Self(number.clamp(0.0, MAX_COUNT) as u64))
    }
}

/// The ids of the tool calls in a reply. The provider's id is used if it is present and unique.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashSet<String>);

impl CallIds {
    /// Returns the id for a new call.
    ///
    /// # Errors
    /// If the reply has too many calls.
    pub(crate) fn assign(&mut self, given: Option<String>) -> Result<String, ModelError> {
        if self.0.len() >= MAX_CALLS {
            return Err(stream_error("too many tool calls in one reply"));
        }
        let given = given.filter(|id| !id.trim().is_empty() && !self.0.contains(id));
        let id = given.unwrap_or_else(|| format!("{MADE_ID}{}", uuid::Uuid::now_v7().simple()));
        self.0.insert(id.clone());
        Ok(id)
    }
}

/// Returns whether this is an id that [`CallIds::assign`] has made.
pub(crate) fn is_made_id(id: &str) -> bool {
    let made = id.strip_prefix(MADE_ID).and_then(|made| uuid::Uuid::try_parse(made).ok());
    made.is_some_and(|made| made.get_version_num() == 7)
}

/// Returns the tool name of a call, or a placeholder if it has none; the loop then tells the model
/// that there is no such tool.
pub(crate) fn tool_name_or_default(given: Option<String>) -> String {
    given.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "unnamed_tool".to_owned())
}

/// Replaces characters that an API rejects in ids and names. They occur in earlier calls of the
/// conversation that another provider made.
pub(crate) fn sanitize_identifier(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(fits) { id.into() } else { id.replace(|c| !fits(c), "_").into() }
}

/// The number of bytes of a reply that are buffered.
#[derive(Debug, Default)]
pub(crate) struct BufferedBytes(usize);

impl BufferedBytes {
    /// Adds to the number of buffered bytes.
    ///
    /// # Errors
    /// If the limit is exceeded.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MAX_BUFFERED {
            Err(stream_error("the reply's tool calls and items are too large: more than 16 MiB"))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_counts_are_clamped() {
        let check = |json: &str, expected| {
            assert_eq!(
                serde_json::from_str::<Option<TokenCount>>(json).unwrap().map(|count| count.0),
                expected,
                "{json}"
            );
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
    fn call_ids_are_unique() {
        let mut ids = CallIds::default();
        assert_eq!(ids.assign(Some("a".to_owned())).unwrap(), "a");
        let minted = [Some("a"), Some(""), Some("  "), None].map(|id| ids.assign(id.map(str::to_owned)).unwrap());
        assert!(minted.iter().all(|id| id.starts_with("call_") && id.len() <= 40), "{minted:?}");
        assert_eq!(HashSet::from(minted).len(), 4);
        assert!((0..MAX_CALLS).any(|_| ids.assign(None).is_err()));
    }
}
