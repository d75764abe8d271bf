//! Which way text runs, as far as the browser cannot tell by itself.

/// The attribute `dir` of a field with this text: by its letters. Without one, as with the sign that begins a command, there is nothing to go
/// by but the page, and `auto` would be from the left.
pub(crate) fn direction(text: &str) -> Option<String> {
    text.contains(char::is_alphabetic).then(|| "auto".to_owned())
}

/// Whether a text runs both ways. Where a line of it is cut off at its end, the last words can lose their beginning.
pub(crate) fn is_mixed(text: &str) -> bool {
    let is_from_the_right = |sign| matches!(sign, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}');
    text.contains(is_from_the_right) && text.contains(|sign: char| sign.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions() {
        let check = |text: &str, by_letters: bool, mixed: bool| {
            assert_eq!((direction(text).is_some(), is_mixed(text)), (by_letters, mixed), "{text}");
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
