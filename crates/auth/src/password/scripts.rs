//! The scripts of names, by Unicode Technical Standard 39.

use unicode_normalization::UnicodeNormalization;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection};

/// Returns what makes a new name easy to mistake, as a message for the user.
pub(super) fn script_problem(name: &str) -> Option<&'static str> {
    let letters: String = name.chars().filter(|sign| sign.is_alphanumeric()).collect();
    if name.nfkc().ne(name.chars()) {
        Some("Use plain letters: some letters of this name, such as full-width ones, can be mistaken for others.")
    } else if !letters.check_restriction_level(RestrictionLevel::HighlyRestrictive) {
        Some("Use letters of a single script: Latin and Cyrillic letters, for example, look alike.")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mixed_scripts_or_unusual_letters_are_rejected() {
        let check = |name: &str, good: bool| assert_eq!(script_problem(name).is_none(), good, "{name}");
        check("alice", true);
        check("Ada.Lovelace+x@example.com", true);
        check("Zoë", true);
        check("Łukasz-2", true);
        check("Иван.Петров", true);
        check("Ελένη", true);
        check("דוד", true);
        check("東京タワー", true);
        check("김철수", true);
        check("tokyo東京", true);
        check("ａlice", false);
        check("ａｌｉｃｅ", false);
        check("аlice", false);
        check("alicе", false);
        check("αlice", false);
        check("ﬁona", false);
        check("x²", false);
        check("𝐚lice", false);
    }
}
