//! The patterns that the schema uses. A handful of names does not need a regular-expression engine.

/// Ids of connections, agents, pages, blocks and steps.
pub(crate) const ID: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$";
/// Ids of endpoints, which may be grouped with `/`.
pub(crate) const ENDPOINT_ID: &str = "^[A-Za-z0-9_][A-Za-z0-9_/-]{0,127}$";
/// Names under which a model calls a tool, as every provider accepts them.
pub(crate) const TOOL_NAME: &str = "^[A-Za-z0-9_-]{1,64}$";
/// Names of environment variables.
pub(crate) const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";

/// A pattern with the test that it stands for and the rule in words.
struct Pattern {
    pattern: &'static str,
    holds: fn(&str) -> bool,
    rule: &'static str,
}

const PATTERNS: [Pattern; 4] = [
    Pattern {
        pattern: ID,
        holds: |text| is_name(text, 128, b"_-") && !text.starts_with('-'),
        rule: "an id has up to 128 letters, digits, `_` and `-`, and does not start with `-`",
    },
    Pattern {
        pattern: ENDPOINT_ID,
        holds: |text| is_name(text, 128, b"_-/") && !text.starts_with(['-', '/']),
        rule: "an endpoint's id has up to 128 letters, digits, `_`, `-` and `/`, and starts with a letter, a digit or `_`",
    },
    Pattern {
        pattern: TOOL_NAME,
        holds: |text| is_name(text, 64, b"_-"),
        rule: "a tool's name has up to 64 letters, digits, `_` and `-`",
    },
    Pattern {
        pattern: VARIABLE,
        holds: |text| is_name(text, 128, b"_") && !text.starts_with(|c: char| c.is_ascii_digit()),
        rule: "an environment variable's name has letters, digits and `_`, and does not start with a digit",
    },
];

fn is_name(text: &str, longest: usize, others: &[u8]) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

/// The rule of a pattern, if the text breaks it. A pattern that is not in the table allows nothing.
pub(crate) fn broken_rule(text: &str, pattern: &str) -> Option<&'static str> {
    match PATTERNS.iter().find(|known| known.pattern == pattern) {
        Some(known) => (!(known.holds)(text)).then_some(known.rule),
        None => Some("this version does not know the rule for this name"),
    }
}
