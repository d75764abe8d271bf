//! Indents JSON. The text is not parsed into values, so that numbers and the order of names stay as they are.

use serde::de::IgnoredAny;

/// The most values around a value. With more, most of the text would be spaces.
const MAX_DEPTH: usize = 128;

/// Returns the text with a line for each value, and whether something is left out because it would have more than `max` bytes; `None` if
/// it is not valid JSON, or is nested too deeply.
pub(super) fn indented(text: &str, max: usize) -> Option<(String, bool)> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut shown = String::with_capacity(text.len().saturating_mul(2).min(max));
    let (mut depth, mut chars) = (0_usize, text.chars().peekable());
    while shown.len() <= max
        && let Some(char) = chars.next()
    {
        match char {
            '"' => {
                shown.push(char);
                push_string(&mut shown, &mut chars);
            }
            '{' | '[' => {
                shown.push(char);
                while chars.peek().is_some_and(|next| next.is_ascii_whitespace()) {
                    chars.next();
                }
                match chars.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => shown.push(end),
                    None => {
                        depth += 1;
                        if depth > MAX_DEPTH {
                            return None;
                        }
                        push_line(&mut shown, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                push_line(&mut shown, depth);
                shown.push(char);
            }
            ',' => {
                shown.push(char);
                push_line(&mut shown, depth);
            }
            ':' => shown.push_str(": "),
            char if char.is_ascii_whitespace() => {}
            char => shown.push(char),
        }
    }
    let is_cut = shown.len() > max;
    shown.truncate(shown.floor_char_boundary(max));
    Some((shown, is_cut))
}

/// Copies the rest of a string.
fn push_string(shown: &mut String, chars: &mut impl Iterator<Item = char>) {
    while let Some(char) = chars.next() {
        shown.push(char);
        match char {
            '"' => return,
            '\\' => shown.extend(chars.next()),
            _ => {}
        }
    }
}

fn push_line(shown: &mut String, depth: usize) {
    shown.push('\n');
    for _ in 0..depth {
        shown.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_not_changed() {
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|expected| (expected.to_owned(), false));
            assert_eq!(indented(text, 1_000), expected, "{text}");
        };
        check(
            "{\"b\":[1,2.50,{}],\"a\":\"x, {\\\"y\\\"}\"}",
            Some("{\n  \"b\": [\n    1,\n    2.50,\n    {}\n  ],\n  \"a\": \"x, {\\\"y\\\"}\"\n}"),
        );
        check(" [ ] ", Some("[]"));
        check("12345678901234567890", Some("12345678901234567890"));
        check("{\"a\":}", None);
        check("", None);
        check(&"[".repeat(100_000), None);
    }

    #[test]
    fn displayed_json_is_bounded() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        assert_eq!(indented(&nested(1_000), 1_000_000), None);
        assert!(indented(&nested(100), 1_000_000).is_some_and(|(_, is_cut)| !is_cut));
        assert_eq!(indented("[1,2]", 10), Some(("[\n  1,\n  2".to_owned(), true)));
        assert_eq!(indented("\"ää\"", 4), Some(("\"ä".to_owned(), true)));
        assert_eq!(indented("\"ää\"", 6), Some(("\"ää\"".to_owned(), false)));
    }
}
