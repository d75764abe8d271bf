//! The key pair that identifies this installation to push services (VAPID, RFC 8292). All servers
//! of a database share it.

use ::store::{Store, StoreError};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;
use url::Url;

/// The name of the stored key.
const SECRET: &str = "notifications.vapid";
/// The validity of a signature in seconds. Push services accept at most a day.
const VALID_SECONDS: i64 = 12 * 60 * 60;

/// The key.
pub(crate) struct ServerKey(EcdsaKeyPair);

impl ServerKey {
    /// Returns the key of this database, which is created on first use.
    ///
    /// # Errors
    /// The database failed, or the stored key is damaged.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let stored = match store.find_secret(SECRET).await? {
            Some(stored) => stored,
            None => store.get_or_create_secret(SECRET, new_key().ok_or_else(damaged)?).await?,
        };
        Self::read(&stored).ok_or_else(damaged)
    }

    fn read(pkcs8: &[u8]) -> Option<Self> {
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new()).ok().map(Self)
    }

    /// Returns the public half in Base64, with which browsers subscribe.
    pub(crate) fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// Returns the value of `Authorization` in a request to a push service. `now` is in seconds.
    /// `None` if the address has no origin.
    pub(crate) fn authorization(&self, endpoint: &Url, contact: &str, now: i64) -> Option<String> {
        let audience = endpoint.origin();
        if !audience.is_tuple() {
            return None;
        }
        let claims = json!({ "aud": audience.ascii_serialization(), "exp": now + VALID_SECONDS, "sub": contact });
        let part = |value: &str| URL_SAFE_NO_PAD.encode(value);
        let signed = format!("{}.{}", part(r#"{"typ":"JWT","alg":"ES256"}"#), part(&claims.to_string()));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()));
        Some(format!("vapid t={token}, k={}", self.public()))
    }
}

fn new_key() -> Option<Vec<u8>> {
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).ok()?;
    Some(made.as_ref().to_vec())
}

fn damaged() -> StoreError {
    StoreError::Invalid("the key for notifications is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    #[test]
    fn a_push_service_can_verify_who_sends() {
        let key = ServerKey::read(&new_key().unwrap()).unwrap();
        let endpoint = Url::parse("https://push.test:8443/send/abc?x=1").unwrap();
        let header = key.authorization(&endpoint, "mailto:ops@example.com", 1_000).unwrap();
        let (token, public) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(public, key.public());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let verifier = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(public));
        verifier.verify(signed.as_bytes(), &decoded(signature)).unwrap();
        let texts: Vec<_> = signed.split('.').map(|part| String::from_utf8(decoded(part)).unwrap()).collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        {"typ":"JWT","alg":"ES256"}
        {"aud":"https://push.test:8443","exp":44200,"sub":"mailto:ops@example.com"}
        "#);
        assert_eq!(key.authorization(&Url::parse("data:,x").unwrap(), "mailto:a@b.test", 1), None);
    }
}
