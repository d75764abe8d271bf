//! The direction of text, where the browser cannot determine it alone.

/// Returns the attribute `dir` of a field with this text: `auto` if the text has letters. Without
/// letters (for example only the `/` of a command) `auto` would mean left to right, so the
/// attribute is left out and the page's direction applies.
pub(crate) fn direction(text: &str) -> Option<String> {
    text.contains(char::is_alphabetic).then(|| "auto".to_owned())
}

/// Returns whether a text mixes left-to-right and right-to-left words. Where such a line is
/// truncated at its end, its last words may lose their beginning.
pub(crate) fn has_mixed_directions(text: &str) -> bool {
    let is_from_the_right = |sign| matches!(sign, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}');
    text.contains(is_from_the_right) && text.contains(|sign: char| sign.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_follows_letters_and_mixed_text_is_detected() {
        let check = |text: &str, by_letters: bool, mixed: bool| {
            assert_eq!((direction(text).is_some(), has_mixed_directions(text)), (by_letters, mixed), "{text}");
        };
        check("", false, false);
        check("/", false, false);
        check("12 + 3 = ?", false, false);
        check("…!", false, false);
        check("/order", true, false);
        check("שלום", true, false);
        check("12 ש", true, true);
        check("החזר עבור הזמנה A-1042", true, true);
        check("Überweisung ﷼", true, true);
    }
}
