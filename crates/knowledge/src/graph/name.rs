//! Compares names.

use unicode_normalization::UnicodeNormalization;

/// The longest name in characters.
pub(crate) const MAX_NAME: usize = 200;

/// Returns the form in which names are compared: without regard to case, white space, compatibility forms of
/// characters (NFKC), punctuation at the ends and an English article. Empty if nothing is left.
pub(crate) fn name_key(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).collect();
    // Lower case can be composed differently.
    let folded: String = folded.nfkc().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let words: Vec<&str> = folded.split_whitespace().collect();
    let words = match words.as_slice() {
        ["the" | "a" | "an", rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let joined = words.join(" ");
    let is_edge = |char: char| !char.is_alphanumeric() && !"+#".contains(char);
    let key: String = joined.trim_matches(is_edge).chars().take(MAX_NAME).collect();
    key.trim_end().to_owned()
}

/// Returns a name on one line without spaces around it; `None` if it is empty or too long.
pub(crate) fn cleaned(name: &str) -> Option<String> {
    let words = name.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join(" ");
    (!name.is_empty() && name.chars().count() <= MAX_NAME).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_compared_by_what_they_say() {
        let check = |name: &str, expected: &str| assert_eq!(name_key(name), expected, "{name}");
        check("ACME  Ltd.", "acme ltd");
        check("acme\u{a0}LTD", "acme ltd");
        check("\u{ff21}\u{ff23}\u{ff2d}\u{ff25}", "acme");
        check("The people team", "people team");
        check("the", "the");
        check("“Mara”", "mara");
        check("Caf\u{65}\u{301}", "caf\u{e9}");
        check("STRASSE", "strasse");
        check("C++", "c++");
        check("…", "");
        check("", "");
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key_or_shorter(name in "(?s).{0,300}") {
            let key = name_key(&name);
            prop_assert!(key.chars().count() <= MAX_NAME && key.trim() == key);
            prop_assert!(!key.chars().any(char::is_control));
        }
    }
}
