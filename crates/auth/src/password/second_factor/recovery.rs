//! Recovery codes, for users who do not have their app at hand.

use crate::token_parts::random_bytes;
use sha2::{Digest, Sha256};

/// How many codes a user gets.
const COUNT: usize = 10;
/// The characters of a code: 80 random bits, so that a hash of it reveals nothing.
const LENGTH: usize = 16;
/// Characters that are easy to distinguish.
const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Returns new codes as a user gets them.
pub(super) fn new_codes() -> Vec<String> {
    let code = || {
        let signs = random_bytes::<LENGTH>().map(|byte| char::from(SIGNS[usize::from(byte) % SIGNS.len()]));
        signs.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
    };
    (0..COUNT).map(|_| code()).collect()
}

/// Returns a code without what users write between its characters.
pub(super) fn normalized(code: &str) -> String {
    // Nothing that is accepted is longer.
    code.chars().filter(char::is_ascii_alphanumeric).map(|sign| sign.to_ascii_lowercase()).take(64).collect()
}

/// Returns the hash under which a normalized code of a user is stored.
pub(super) fn hash(user_id: &str, code: &str) -> String {
    let text = Sha256::new().chain_update(b"chatwright recovery code\0").chain_update(user_id).chain_update(b"\0");
    text.chain_update(code).finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn recovery_codes_differ_and_are_read_as_users_write_them() {
        let codes = new_codes();
        assert_eq!((codes.len(), codes.iter().collect::<HashSet<_>>().len()), (COUNT, COUNT));
        assert!(codes.iter().all(|code| normalized(code).len() == LENGTH && code.len() == LENGTH + 3), "{codes:?}");
        let check = |text: &str| assert_eq!(normalized(text), "abcd2345efgh6789", "{text}");
        check("abcd-2345-efgh-6789");
        check("  ABCD 2345 efgh–6789\n");
        check("abcd2345efgh6789");
        assert_eq!(normalized(&"a".repeat(1_000)).len(), 64);
        assert_ne!(hash("ada", "abcd"), hash("bob", "abcd"), "a code is for one user");
    }
}
