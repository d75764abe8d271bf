//! The patterns of the schema, each implemented as a function, so that no regular expression engine
//! is needed.

pub(crate) use settings::pattern::{ENDPOINT_ID, ID, PRUNED_CALLS, TOOL_NAME, VARIABLE};

/// Language tags (BCP 47).
pub(crate) const LANGUAGE: &str = "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$";

/// A pattern with the function that implements it and a description of the rule.
struct Pattern {
    pattern: &'static str,
    /// The kind of text, for messages.
    noun: &'static str,
    matches: fn(&str) -> bool,
    rule: &'static str,
}

const PATTERNS: [Pattern; 6] = [
    Pattern {
        pattern: ID,
        noun: "an id",
        matches: |text| is_name(text, 128, b"_-") && !text.starts_with('-'),
        rule: "use up to 128 letters, digits, `_` and `-`, and do not start with `-`",
    },
    Pattern {
        pattern: ENDPOINT_ID,
        noun: "an endpoint's id",
        matches: |text| is_name(text, 128, b"_-/") && !text.starts_with(['-', '/']),
        rule: "use up to 128 letters, digits, `_`, `-` and `/`, and start with a letter, a digit or `_`",
    },
    Pattern {
        pattern: TOOL_NAME,
        noun: "the name of a tool",
        matches: |text| is_name(text, 64, b"_-"),
        rule: "use up to 64 letters, digits, `_` and `-`",
    },
    Pattern {
        pattern: VARIABLE,
        noun: "the name of an environment variable",
        matches: |text| is_name(text, 128, b"_") && !text.starts_with(|c: char| c.is_ascii_digit()),
        rule: "use letters, digits and `_`, and do not start with a digit",
    },
    Pattern {
        pattern: PRUNED_CALLS,
        noun: "what tool calls are left out",
        matches: is_pruned_calls,
        rule: "use `none`, `all`, `before-last-message`, or `before-last-N-messages` with a number from 1 on",
    },
    Pattern {
        pattern: LANGUAGE,
        noun: "the code of a language",
        matches: is_language,
        rule: "write it as in BCP 47: `de`, `pt-BR`",
    },
];

fn is_pruned_calls(text: &str) -> bool {
    let last = text.strip_prefix("before-last-").and_then(|rest| rest.strip_suffix("-messages"));
    let is_number = |n: &str| n.len() <= 6 && !n.starts_with('0') && n.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text, "none" | "all" | "before-last-message") || last.is_some_and(|n| !n.is_empty() && is_number(n))
}

fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_first = |part: &str| matches!(part.len(), 2..=3) && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    parts.next().is_some_and(is_first) && parts.clone().count() <= 4 && parts.all(|part| is_name(part, 8, b""))
}

fn is_name(text: &str, longest: usize, others: &[u8]) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

/// Returns the message and the help for a text that does not match a pattern. An unknown pattern
/// matches nothing.
pub(crate) fn violation(text: &str, pattern: &str) -> Option<(String, &'static str)> {
    let Some(known) = PATTERNS.iter().find(|known| known.pattern == pattern) else {
        return Some((format!("`{text}` cannot be used here"), "this version does not know the rule for this name"));
    };
    (!(known.matches)(text)).then(|| (format!("`{text}` cannot be {}", known.noun), known.rule))
}
