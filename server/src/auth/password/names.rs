//! New names that could be mistaken for those of other users, by the rules of Unicode Technical Standard 39. Names that
//! are there already stay as they are, and sign in as before.

use super::Accounts;
use super::words::key;
use store::StoreError;
use unicode_normalization::UnicodeNormalization;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};

/// Names that are compared at once.
const PAGE: u32 = 1_000;

/// What makes a new name easy to mistake, in words for who chose it.
pub(super) fn problem(name: &str) -> Option<&'static str> {
    let letters: String = name.chars().filter(|sign| sign.is_alphanumeric()).collect();
    if name.nfkc().ne(name.chars()) {
        Some("Write the name in plain letters: some of these can be mistaken for others, such as full-width ones.")
    } else if !letters.check_restriction_level(RestrictionLevel::HighlyRestrictive) {
        Some("Write the name in the letters of one script: Latin and Cyrillic letters, for example, look alike.")
    } else {
        None
    }
}

/// The form in which names are the same that look the same.
fn looks(name: &str) -> String {
    skeleton(&key(name).nfkc().collect::<String>()).collect()
}

impl Accounts {
    /// Whether a new name looks like another user's. Names of ASCII letters are not compared with each other: `bob1` and
    /// `bobl` differ enough for whoever reads them with care, and are both usual. So the names of other scripts are looked
    /// at for a Latin name, and all names for one in another script; the time for that is well below that of hashing the
    /// new user's password for 100,000 users.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn has_lookalike(&self, name: &str) -> Result<bool, StoreError> {
        let (new, all) = (looks(name), !name.is_ascii());
        let mut after = String::new();
        loop {
            let names = self.store.name_keys(all, &after, PAGE).await?;
            if names.iter().any(|known| looks(known) == new) {
                return Ok(true);
            }
            match names.into_iter().next_back() {
                Some(last) => after = last,
                None => return Ok(false),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mixed_or_odd_letters_are_refused() {
        let check = |name: &str, good: bool| assert_eq!(problem(name).is_none(), good, "{name}");
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

    #[test]
    fn names_that_look_the_same_are_the_same() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(looks(one) == looks(other), expected, "{one} {other}");
        };
        check("alice", "Alice", true);
        check("alice", "ａlice", true);
        check("alice", "аlice", true);
        check("cape", "саре", true);
        check("Саре", "cape", true);
        check("alice", "alicia", false);
        check("иван", "ivan", false);
        check("zoe", "zoë", false);
    }
}
