//! Makes hidden characters of a tool's arguments visible: what is shown must be what will run. In a message there are
//! no boxes as on the web page, so each hidden character is its code point in brackets.

use std::fmt::Write;

/// Characters that are drawn as nothing, beside those that the standard library escapes: fillers, blank letters and
/// selectors of variants.
const BLANK: [(char, char); 12] = [
    ('\u{34f}', '\u{34f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffc}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns whether a character is invisible, or changes how others are read. Line breaks are not.
pub(crate) fn is_hidden(sign: char) -> bool {
    if sign.is_ascii() {
        return sign.is_ascii_control() && sign != '\n';
    }
    if BLANK.iter().any(|(first, last)| (*first..=*last).contains(&sign)) {
        return true;
    }
    // Within a text, the standard library escapes what cannot be printed, but no combining marks.
    let mut text = [b'a', 0, 0, 0, 0];
    let length = 1 + sign.encode_utf8(&mut text[1..]).len();
    str::from_utf8(&text[..length]).is_ok_and(|text| text.escape_debug().nth(2).is_some()) || sign.is_whitespace()
}

/// Returns a text in which hidden characters are `[U+202E]`.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_hidden(sign) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "[U+{:04X}]", u32::from(sign));
        } else {
            shown.push(sign);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        let check = |text: &str, expected: &str| assert_eq!(visible(text), expected, "{text:?}");
        check("rm -rf /\n", "rm -rf /\n");
        check("ünïcode 东京 שלום 👋", "ünïcode 东京 שלום 👋");
        check("a\u{202e}b\u{200b}", "a[U+202E]b[U+200B]");
        check("\u{3164}\u{2800}\u{e0041}\u{fe0f}", "[U+3164][U+2800][U+E0041][U+FE0F]");
        check("a\u{a0}b\tc\r\u{0}", "a[U+00A0]b[U+0009]c[U+000D][U+0000]");
        check("e\u{301}", "e\u{301}");
    }
}
