//! Which way text runs, as far as the browser cannot tell by itself.

/// The attribute `dir` of a field with this text: by its letters. Without one, as with the sign that begins a command, there is nothing to go
/// by but the page, and `auto` would be from the left.
pub(crate) fn direction(text: &str) -> Option<String> {
    text.contains(char::is_alphabetic).then(|| "auto".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions() {
        let check = |text: &str, by_letters: bool| assert_eq!(direction(text).is_some(), by_letters, "{text}");
        check("", false);
        check("/", false);
        check("12 + 3 = ?", false);
        check("…!", false);
        check("/order", true);
        check("שלום", true);
        check("12 ש", true);
        check("החזר עבור הזמנה A-1042", true);
        check("Überweisung ﷼", true);
    }
}
