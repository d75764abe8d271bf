//! Sanitizes text of other servers for a model and for a log.

use regex::Regex;
use std::sync::LazyLock;

/// Characters that a person does not see, but a model reads: format and control characters, tags,
/// fillers, variation selectors and private-use characters. Line breaks and tabs are not among
/// them.
static INVISIBLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Co}&&[^\n\t]]").ok());

/// Removes the invisible characters.
pub fn visible(text: &str) -> String {
    match &*INVISIBLE {
        Some(invisible) => invisible.replace_all(text, "").into_owned(),
        // Without the table only the characters that are certainly visible are kept.
        None => text.chars().filter(|character| matches!(character, ' '..='~' | '\n' | '\t')).collect(),
    }
}

/// Returns whether a text has no invisible characters.
pub fn is_visible(text: &str) -> bool {
    visible(text) == text
}

/// Returns the visible text on one line.
pub fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates a text to `max` bytes, including the `…` at its end.
pub fn truncate(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max.saturating_sub('…'.len_utf8()));
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        let check = |text: &str, expected: &str| assert_eq!(one_line(text), expected, "{text:?}");
        check("plain, schön, 好, 👍", "plain, schön, 好, 👍");
        check("a\u{200b}b\u{200d}c\u{feff}d\u{ad}e\u{2060}f", "abcdef");
        check("\u{202e}right\u{2066}left", "rightleft");
        check("tags\u{e0049}\u{e0067}\u{e006e}", "tags");
        check("selectors\u{fe0f}\u{e0100}", "selectors");
        check("fillers\u{3164}\u{115f}\u{ffa0}\u{34f}", "fillers");
        check("private\u{e000}\u{f0000}", "private");
        check("\u{1b}[31mred\0\u{7}\u{9b}", "[31mred");
        check("one\r\ntwo\tthree\u{2028}four", "one two three four");
        assert_eq!(visible("one\r\n\ttwo"), "one\n\ttwo");
    }

    #[test]
    fn truncation_counts_the_ellipsis() {
        let check = |text: &str, max: usize, expected: &str| assert_eq!(truncate(text, max), expected);
        check("abcdef", 6, "abcdef");
        check("abcdefg", 6, "abc…");
        check("ééé", 5, "é…");
    }
}
