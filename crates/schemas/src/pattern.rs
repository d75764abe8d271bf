//! Regular expressions in schemas: their cost, and which are refused.

use jsonschema::PatternOptions;
use serde_json::json;

/// The maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 4096;
/// Limits of the compiled size in bytes, each with the weight of a pattern below it. In the worst
/// case, a match takes time proportional to the product of this size and the length of the text.
const TIERS: [(usize, u64); 4] = [(4 << 10, 1), (16 << 10, 4), (64 << 10, 16), (256 << 10, 64)];
/// The maximum size of a compiled pattern in bytes.
pub(crate) const MAX_COMPILED: usize = 256 << 10;
/// The maximum memory of a match in bytes.
pub(crate) const MAX_MATCHER: usize = 1 << 20;

/// Returns the weight of a pattern for the linear engine, or why the pattern is refused.
pub(crate) fn weight(pattern: &str) -> Result<u64, String> {
    let quoted: String = pattern.chars().take(80).collect();
    if pattern.len() > MAX_PATTERN {
        return Err(format!("the pattern `{quoted}…` is longer than {MAX_PATTERN} bytes"));
    }
    let tier = TIERS.iter().find(|(limit, _)| is_linear(pattern, *limit));
    if let Some((_, weight)) = tier {
        return Ok(*weight);
    }
    Err(if needs_backtracking(pattern) {
        format!("the pattern `{quoted}` needs look-around or a back-reference, which can take unbounded time")
    } else {
        format!("the pattern `{quoted}` is not a regular expression, or is too large when compiled")
    })
}

/// Returns whether a text is a regular expression as in browsers, including look-around and
/// back-references; for patterns that a browser evaluates.
#[expect(clippy::disallowed_methods, reason = "the one place that may")]
pub fn is_regular_expression(pattern: &str) -> bool {
    let engine = PatternOptions::fancy_regex().size_limit(MAX_COMPILED).dfa_size_limit(MAX_MATCHER);
    pattern.len() <= MAX_PATTERN
        && jsonschema::options().with_pattern_options(engine).build(&json!({ "pattern": pattern })).is_ok()
}

#[expect(clippy::disallowed_methods, reason = "the one place that may")]
fn is_linear(pattern: &str, limit: usize) -> bool {
    let engine = PatternOptions::regex().size_limit(limit).dfa_size_limit(MAX_MATCHER);
    jsonschema::options().with_pattern_options(engine).build(&json!({ "pattern": pattern })).is_ok()
}

/// Returns whether a pattern uses a feature that only a backtracking engine has.
fn needs_backtracking(pattern: &str) -> bool {
    let has_reference = pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && (b'1'..=b'9').contains(&pair[1]));
    has_reference || ["(?=", "(?!", "(?<=", "(?<!", "\\k<"].iter().any(|mark| pattern.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_weighed_or_refused() {
        let check = |pattern: &str, expected: Result<u64, &str>| {
            let seen = weight(pattern);
            match (&seen, expected) {
                (Ok(weight), Ok(expected)) => assert_eq!(*weight, expected, "{pattern}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{pattern}: {error}"),
                _ => panic!("{pattern}: {seen:?}"),
            }
        };
        check("^[a-z]+$", Ok(1));
        check(r"^\d{4}-\d{2}-\d{2}$", Ok(1));
        check("^[a-z]{500}$", Ok(16));
        check("(?=a)b", Err("look-around"));
        check(r"(a)\1", Err("back-reference"));
        check("(", Err("not a regular expression"));
        check("((a{100}){100}){100}", Err("too large"));
        check(&"a".repeat(5000), Err("longer than 4096 bytes"));
    }

    #[test]
    fn look_around_is_allowed_for_browsers() {
        let check = |pattern: &str, expected: bool| assert_eq!(is_regular_expression(pattern), expected, "{pattern}");
        check("^(?!x)a", true);
        check(r"(a)\1", true);
        check("(", false);
        check("((a{100}){100}){100}", false);
    }
}
