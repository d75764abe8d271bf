//! Rules for user names and passwords.

use super::scripts;
use crate::token_parts::random_bytes;

/// The error for a name that is taken or similar to another one.
pub const NAME_TAKEN: &str = "This name is taken, or looks too much like another one. Choose a different name.";

/// The maximum length of a name in characters.
pub const MAX_NAME: usize = 64;
/// The length of a name in characters.
const NAME_LENGTH: std::ops::RangeInclusive<usize> = 2..=MAX_NAME;
/// The minimum length of a password in characters (NIST SP 800-63B: length matters, not character
/// classes).
const MIN_PASSWORD: usize = 10;
/// The maximum length of a password in bytes, to bound the cost of hashing.
const MAX_PASSWORD: usize = 512;

/// Names of at least this length must not occur in the password.
const MIN_CHECKED_NAME: usize = 4;

/// Returns the normalized form of a name, which is unique.
pub fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns why a new name is not allowed, as a message for the user.
pub fn name_problem(name: &str) -> Option<&'static str> {
    let is_sign = |sign: char| sign.is_alphanumeric() || "._-@+".contains(sign);
    if !NAME_LENGTH.contains(&name.chars().count()) {
        Some("A name must have 2 to 64 characters.")
    } else if !name.chars().all(is_sign) {
        Some("A name may contain only letters, digits and the characters . _ - @ +")
    } else {
        scripts::script_problem(name)
    }
}

/// Returns a name at a provider or in a directory as a name for an account, if that is possible.
pub fn account_name(name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(".");
    let allowed = name.chars().filter(|sign| sign.is_alphanumeric() || "._-@+".contains(*sign));
    let name: String = allowed.take(MAX_NAME).collect();
    name_problem(&name).is_none().then_some(name)
}

/// Returns why a new password is not allowed, as a message for the user.
pub fn password_problem(password: &str, name: &str) -> Option<&'static str> {
    let mut signs = password.chars();
    let first = signs.next();
    // A short name may be part of other words.
    let has_name = name.chars().count() >= MIN_CHECKED_NAME && name_key(password).contains(&name_key(name));
    if password.chars().count() < MIN_PASSWORD {
        Some("A password must have at least 10 characters.")
    } else if password.len() > MAX_PASSWORD {
        Some("This password is too long: the limit is 512 bytes.")
    } else if signs.all(|sign| Some(sign) == first) || has_name {
        Some("This password is easy to guess. Choose several unrelated words.")
    } else {
        None
    }
}

/// Returns an initial password for another user: 100 random bits, in characters that are easy to
/// distinguish.
pub fn random_password() -> String {
    const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let sign = |byte: &u8| char::from(SIGNS[usize::from(*byte) % SIGNS.len()]);
    let groups = random_bytes::<20>();
    groups.chunks(5).map(|group| group.iter().map(sign).collect::<String>()).collect::<Vec<_>>().join("-")
}

/// Returns whether a text is short enough to be a password.
pub fn is_possible_password(password: &str) -> bool {
    password.len() <= MAX_PASSWORD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_are_rejected() {
        let check = |name: &str, good: bool| assert_eq!(name_problem(name).is_none(), good, "{name}");
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
    fn names_of_other_systems_become_account_names() {
        let check = |name: &str, expected: Option<&str>| assert_eq!(account_name(name).as_deref(), expected, "{name}");
        check("ada", Some("ada"));
        check("ada@example.com", Some("ada@example.com"));
        check("Ada  Lovelace", Some("Ada.Lovelace"));
        check("EXAMPLE\\ada", Some("EXAMPLEada"));
        check("ada_gmail.com#EXT#@example.com", Some("ada_gmail.comEXT@example.com"));
        check("<b>", None);
        check("", None);
        check("ａlice", None);
    }

    #[test]
    fn weak_passwords_are_rejected() {
        let check = |password: &str, good: bool| {
            assert_eq!(password_problem(password, "Lovelace").is_none(), good, "{password}");
        };
        check("correct horse", true);
        check("short", false);
        check("aaaaaaaaaaaa", false);
        check("LOVELACE-and-more", false);
        check(&"ab".repeat(300), false);
    }
}
