//! Authenticated encryption (AES-256-GCM) of small texts that the server keeps in cookies, in forms or in its database.

mod environment;

pub use environment::EnvironmentKeys;

use crate::token_parts::random_bytes;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest, Sha256};

/// Keys for one purpose. The first one encrypts, all decrypt.
pub struct SealingKeys(Vec<LessSafeKey>);

impl SealingKeys {
    /// Derives the keys from secrets. `purpose` keeps them apart from other uses of the same secrets.
    pub fn new<'a>(purpose: &[u8], secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let key = |secret: &[u8]| {
            let hash = Sha256::new().chain_update(purpose).chain_update(secret).finalize();
            UnboundKey::new(&AES_256_GCM, &hash).ok().map(LessSafeKey::new)
        };
        Self(secrets.into_iter().filter_map(key).collect())
    }

    /// Returns whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Encrypts a text, which can only be decrypted with the same `context`. `None` without a key.
    pub fn seal(&self, context: &[u8], plain: &[u8]) -> Option<String> {
        let (key, nonce) = (self.0.first()?, random_bytes::<NONCE_LEN>());
        let mut sealed = plain.to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut sealed).ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Decrypts a text. `None` if no key fits, or the text or the context is another one.
    pub fn open(&self, context: &[u8], sealed: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        self.0.iter().find_map(|key| {
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let mut text = sealed.to_vec();
            Some(key.open_in_place(nonce, Aad::from(context), &mut text).ok()?.to_vec())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_with_their_key_purpose_and_context_only() {
        let keys = |purpose: &str, secrets: &[&str]| {
            SealingKeys::new(purpose.as_bytes(), secrets.iter().map(|secret| secret.as_bytes()))
        };
        let sealed = keys("a", &["old"]).seal(b"ada", b"canary").unwrap();
        let check = |purpose: &str, secrets: &[&str], context: &str, sealed: &str, expected: bool| {
            let opened = keys(purpose, secrets).open(context.as_bytes(), sealed);
            assert_eq!(opened.as_deref() == Some(b"canary"), expected, "{purpose} {secrets:?} {context} {sealed}");
        };
        check("a", &["old"], "ada", &sealed, true);
        check("a", &["new", "old"], "ada", &sealed, true);
        check("a", &["new"], "ada", &sealed, false);
        check("b", &["old"], "ada", &sealed, false);
        check("a", &["old"], "bob", &sealed, false);
        check("a", &["old"], "ada", &sealed[..sealed.len() - 4], false);
        check("a", &[], "ada", &sealed, false);
        check("a", &["old"], "ada", "", false);
        assert_eq!(keys("a", &[]).seal(b"ada", b"canary"), None);
        assert_ne!(keys("a", &["old"]).seal(b"ada", b"canary").unwrap(), sealed);
    }
}
