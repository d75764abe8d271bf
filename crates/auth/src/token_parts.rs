//! Random bytes, hashes and times, of which tokens, cookies and their rows are made.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns cryptographically secure random bytes.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // The system's generator does not fail on any supported system; continuing without it would be
    // insecure.
    #[expect(clippy::expect_used, reason = "no randomness, no secrets")]
    SystemRandom::new().fill(&mut bytes).expect("the system gives random numbers");
    bytes
}

/// Returns 256 random bits as text.
pub fn random_text() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes::<32>())
}

/// Returns the Unix time in seconds.
pub(super) fn now_seconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}

/// Returns the hash under which a token is stored.
pub(super) fn hash_token(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Returns the Unix time in milliseconds.
pub fn now_millis() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
