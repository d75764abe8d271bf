//! Shortens texts.

/// Returns the text, or its first `most` characters followed by `…` if it is longer.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_longer_texts_are_shortened() {
        let check = |text: &str, expected: &str| assert_eq!(shortened(text, 3), expected);
        check("", "");
        check("äöü", "äöü");
        check("äöüß", "äöü…");
    }
}
