//! The addresses of servers: which are allowed, and what may be shown of them.

use added_entries::MASK;
use added_entries::address::{self, origin};
use url::Url;

/// The most characters of a part of a path that is shown whatever it is: too short for a key.
const MAX_SHORT: usize = 6;
/// The most characters of a part of a path that consists of words.
const MAX_WORDS: usize = 24;
/// The most letters of such a word, and the most digits of a number in its place.
const MAX_WORD: usize = 12;
const MAX_DIGITS: usize = 4;

/// Reads an address. With `allow_private` it may be on this machine and its networks, and use `http://`.
///
/// # Errors
/// A message that says what is wrong with the address and does not repeat it.
pub(crate) fn parse(text: &str, allow_private: bool) -> Result<Url, String> {
    let url = address::parse(text, allow_private, "mcpServers")?;
    match url.fragment() {
        None => Ok(url),
        Some(_) => Err("the address must not have a fragment (`#…`)".to_owned()),
    }
}

/// Returns what may be shown of an address: parts of the path that may be keys are masked, and so is the
/// query.
pub(crate) fn shown(url: &Url) -> String {
    let parts = url.path().split('/').map(|part| if is_harmless(part) { part } else { MASK });
    let path = parts.collect::<Vec<_>>().join("/");
    let query = if url.query().is_some() { format!("?{MASK}") } else { String::new() };
    format!("{}{path}{query}", origin(url))
}

/// Returns whether the whole address may be shown.
pub(crate) fn is_shown(url: &Url) -> bool {
    url.query().is_none() && url.path().split('/').all(is_harmless)
}

/// Returns whether a part of a path is no key: it is short, or consists of words and short numbers.
fn is_harmless(part: &str) -> bool {
    let is_word = |word: &str| {
        let is_number = word.len() <= MAX_DIGITS && word.bytes().all(|b| b.is_ascii_digit());
        (1..=MAX_WORD).contains(&word.len()) && (is_number || word.bytes().all(|b| b.is_ascii_lowercase()))
    };
    part.len() <= MAX_SHORT || (part.len() <= MAX_WORDS && part.split(['-', '_', '.']).all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_fragment() {
        let check = |text: &str, expected: &str| {
            let read = parse(text, false).map_or_else(|problem| problem, |_| String::new());
            assert!(if expected.is_empty() { read.is_empty() } else { read.contains(expected) }, "{text}: {read}");
        };
        check("https://mcp.example.com/mcp?key=1", "");
        check("https://mcp.example.com/#x", "must not have a fragment");
        check("https://127.0.0.1/mcp", "`mcpServers: { allowPrivate: true }`");
    }

    #[test]
    fn parts_of_an_address_that_may_be_keys_are_masked() {
        let check = |text: &str, expected: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!((shown(&url).as_str(), is_shown(&url)), (expected, !expected.contains(MASK)), "{text}");
        };
        check("https://example.com", "https://example.com/");
        check("https://example.com:8443/api/streamable-http", "https://example.com:8443/api/streamable-http");
        check("https://example.com/s/c2VjcmV0LXRva2Vu/mcp", "https://example.com/s/***/mcp");
        check("https://example.com/550e8400-e29b-41d4-a716-446655440000", "https://example.com/***");
        check("https://example.com/abcdefghijklmnopqrs", "https://example.com/***");
        check("https://example.com/a1B2c3D4e5/mcp", "https://example.com/***/mcp");
        check("https://example.com/12345678", "https://example.com/***");
        check("https://example.com/spec-2025-06/v1", "https://example.com/spec-2025-06/v1");
        check("https://example.com/mcp?key=1", "https://example.com/mcp?***");
    }
}
