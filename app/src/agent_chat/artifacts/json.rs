//! Indents JSON. The text is not parsed into values, so that numbers and the order of names stay as they are.

use serde::de::IgnoredAny;

/// Returns the text with a line for each value; `None` if it is not valid JSON, or is nested too deeply.
pub(super) fn indented(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut shown = String::with_capacity(text.len() * 2);
    let (mut depth, mut chars) = (0, text.chars().peekable());
    while let Some(char) = chars.next() {
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
                        push_line(&mut shown, depth);
                    }
                }
            }
            '}' | ']' => {
                depth -= 1;
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
    Some(shown)
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
        let check = |text: &str, expected: Option<&str>| assert_eq!(indented(text).as_deref(), expected, "{text}");
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
}
