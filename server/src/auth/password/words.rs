//! What names and passwords may be.

use super::names;
use crate::auth::visitors::random;

/// What somebody reads who wants a name that another user has.
pub(crate) const TAKEN: &str = "This name is taken, or looks too much like another one. Choose a different name.";

/// Characters of a name.
const NAME: std::ops::RangeInclusive<usize> = 2..=64;
/// Characters of a password (NIST SP 800-63B: long is good, no rules of signs).
const MIN_PASSWORD: usize = 10;
/// Bytes of a password: hashing more would only cost.
const MAX_PASSWORD: usize = 512;

/// Characters of a name that gives a password away.
const LONG_NAME: usize = 4;

/// A name in the form in which names are compared: however it is written, it is one user's.
pub(crate) fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// What is wrong with a new name, in words for the person who chose it.
pub(crate) fn problem_of_name(name: &str) -> Option<&'static str> {
    let is_sign = |sign: char| sign.is_alphanumeric() || "._-@+".contains(sign);
    if !NAME.contains(&name.chars().count()) {
        Some("A name has 2 to 64 characters.")
    } else if !name.chars().all(is_sign) {
        Some("A name is made of letters, digits and the signs . _ - @ +")
    } else {
        names::problem(name)
    }
}

/// What is wrong with a new password.
pub(crate) fn problem_of_password(password: &str, name: &str) -> Option<&'static str> {
    let mut signs = password.chars();
    let first = signs.next();
    // A short name may stand in other words.
    let has_name = name.chars().count() >= LONG_NAME && key(password).contains(&key(name));
    if password.chars().count() < MIN_PASSWORD {
        Some("A password has at least 10 characters.")
    } else if password.len() > MAX_PASSWORD {
        Some("This password is too long: it may have up to 512 bytes.")
    } else if signs.all(|sign| Some(sign) == first) || has_name {
        Some("This password is easy to guess. Choose several words that have nothing to do with each other.")
    } else {
        None
    }
}

/// A first password for another user, who changes it later: a hundred bits, in characters that are not mistaken for others.
pub(crate) fn random_password() -> String {
    const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let sign = |byte: &u8| char::from(SIGNS[usize::from(*byte) % SIGNS.len()]);
    let groups = random::<20>();
    groups.chunks(5).map(|group| group.iter().map(sign).collect::<String>()).collect::<Vec<_>>().join("-")
}

/// Whether a password can be anybody's at all.
pub(crate) fn may_be_password(password: &str) -> bool {
    password.len() <= MAX_PASSWORD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |name: &str, good: bool| assert_eq!(problem_of_name(name).is_none(), good, "{name}");
        check("ada", true);
        check("Ada.Lovelace+x@example.com", true);
        check("Zoë", true);
        check("a", false);
        check("a b", false);
        check("a\u{202e}b", false);
        check("ａlice", false);
        check("аlice", false);
        check(&"a".repeat(65), false);
    }

    #[test]
    fn passwords() {
        let check = |password: &str, good: bool| {
            assert_eq!(problem_of_password(password, "Lovelace").is_none(), good, "{password}");
        };
        check("correct horse", true);
        check("short", false);
        check("aaaaaaaaaaaa", false);
        check("LOVELACE-and-more", false);
        check(&"ab".repeat(300), false);
    }
}
