//! Texts of other servers, made fit for a model and for a log.

use regex::Regex;
use std::sync::LazyLock;

/// What a person does not see and a model reads: format and control characters, tags, fillers, selectors, private ones. Line breaks
/// and tabs are not among them.
static INVISIBLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Co}&&[^\n\t]]").ok());

/// The text without what cannot be seen.
pub(crate) fn visible(text: &str) -> String {
    match &*INVISIBLE {
        Some(invisible) => invisible.replace_all(text, "").into_owned(),
        // Not without the table: then only what is certain.
        None => text.chars().filter(|character| matches!(character, ' '..='~' | '\n' | '\t')).collect(),
    }
}

/// Whether all of it can be seen.
pub(crate) fn is_visible(text: &str) -> bool {
    visible(text) == text
}

/// The visible text on one line.
pub(crate) fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most `max` bytes of it; what was cut ends with `…`, which counts.
pub(crate) fn cut(text: &str, max: usize) -> String {
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
    fn what_cannot_be_seen_is_taken_out() {
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
    fn a_cut_counts_its_sign() {
        let check = |text: &str, max: usize, expected: &str| assert_eq!(cut(text, max), expected);
        check("abcdef", 6, "abcdef");
        check("abcdefg", 6, "abc…");
        check("ééé", 5, "é…");
    }
}
