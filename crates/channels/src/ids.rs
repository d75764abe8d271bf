//! Random ids, and the hash under which a code is stored.

use sha2::{Digest, Sha256};

/// The length of an id, and so of a code.
pub(crate) const CODE_LENGTH: usize = 32;

/// Returns a new id of 32 hexadecimal digits: 128 random bits.
pub(crate) fn new_id() -> String {
    hex::encode(auth::random_bytes::<16>())
}

/// Returns the hash of a code.
pub(crate) fn hash_code(code: &str) -> String {
    hex::encode(Sha256::digest(code))
}
