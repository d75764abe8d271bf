//! The keys that verify tokens: those of the config, or a JSON Web Key Set at a URL.

use super::jwks::JwksCache;
use anyhow::{Context, anyhow, bail};
use config::JwtKeys;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// The limit on keys of a set; more are ignored.
const MAX_KEYS: usize = 64;
/// The length of an uncompressed point of the curve P-256 (SEC 1, 2.3.3).
const P256_POINT: usize = 65;
/// The length of a public key of Ed25519 (RFC 8032).
const ED25519_KEY: usize = 32;

/// A key with its only algorithm.
#[derive(Clone)]
pub(super) struct SigningKey {
    pub(super) id: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// The source of keys.
pub(super) enum KeySource {
    Fixed(Vec<SigningKey>),
    Published(Box<JwksCache>),
}

impl KeySource {
    /// Reads the keys of the config.
    ///
    /// # Errors
    /// A key is invalid or of an unsupported type.
    pub(super) fn new(settings: &JwtKeys) -> anyhow::Result<Self> {
        Ok(match settings {
            JwtKeys::Secrets(secrets) => Self::Fixed(secrets.iter().map(key_from_secret).collect()),
            JwtKeys::Pem(pem) => Self::Fixed(vec![key_from_pem(pem)?]),
            JwtKeys::Jwk(jwk) => Self::Fixed(vec![key_from_jwk(jwk)?]),
            JwtKeys::Url { url, allow_private } => Self::Published(Box::new(JwksCache::new(url, *allow_private)?)),
        })
    }

    /// Returns the keys that may have signed a token with this algorithm and key id; `None` if no
    /// keys could be loaded yet.
    pub(super) async fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Option<Vec<SigningKey>> {
        match self {
            // A key of the config matches any key id, unless the config gives it an id.
            Self::Fixed(keys) => Some(matching_keys(keys, algorithm, id)),
            Self::Published(published) => published.find(algorithm, id).await,
        }
    }
}

/// Returns the keys that may have signed a token. A token without a key id matches any key, and a
/// key without an id any token.
pub(super) fn matching_keys(keys: &[SigningKey], algorithm: Algorithm, id: Option<&str>) -> Vec<SigningKey> {
    let fits = |key: &&SigningKey| {
        let is_named = id.is_none_or(|id| key.id.as_deref().is_none_or(|known| known == id));
        key.algorithm == algorithm && is_named
    };
    keys.iter().filter(fits).cloned().collect()
}

/// Returns the usable keys of a JSON Web Key Set; keys for other purposes are ignored.
///
/// # Errors
/// The body is not a key set.
pub(super) fn keys_from_jwks(body: &[u8]) -> anyhow::Result<Vec<SigningKey>> {
    let set: Value = serde_json::from_slice(body).context("it is not JSON")?;
    let keys = set["keys"].as_array().context("it has no list `keys`")?;
    Ok(keys.iter().filter_map(|jwk| key_from_jwk(jwk).ok()).take(MAX_KEYS).collect())
}

fn key_from_secret(secret: &SecretString) -> SigningKey {
    let key = DecodingKey::from_secret(secret.expose_secret().as_bytes());
    SigningKey { id: None, algorithm: Algorithm::HS256, key }
}

fn key_from_jwk(jwk: &Value) -> anyhow::Result<SigningKey> {
    let jwk: Jwk = serde_json::from_value(jwk.clone()).map_err(|_| anyhow!("this JSON Web Key cannot be read"))?;
    if jwk.common.public_key_use.as_ref().is_some_and(|of| *of != PublicKeyUse::Signature) {
        bail!("this JSON Web Key is not for signatures");
    }
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        _ => bail!("this type of JSON Web Key is not supported; use RSA, P-256 or Ed25519"),
    };
    if jwk.common.key_algorithm.is_some_and(|named| named.to_string() != format!("{algorithm:?}")) {
        bail!("the `alg` of this JSON Web Key does not match its type; supported are RS256, ES256 and EdDSA");
    }
    let key = DecodingKey::from_jwk(&jwk).map_err(|_| anyhow!("this JSON Web Key cannot be read"))?;
    Ok(SigningKey { id: jwk.common.key_id, algorithm, key })
}

fn key_from_pem(pem: &str) -> anyhow::Result<SigningKey> {
    let pem = pem.trim().as_bytes();
    let length = |key: &DecodingKey| key.try_get_as_bytes().map(<[u8]>::len).unwrap_or_default();
    let (algorithm, key) = if let Ok(key) = DecodingKey::from_rsa_pem(pem) {
        (Algorithm::RS256, key)
    } else if let Ok(key) = DecodingKey::from_ec_pem(pem) {
        (Algorithm::ES256, key)
    } else if let Ok(key) = DecodingKey::from_ed_pem(pem) {
        (Algorithm::EdDSA, key)
    } else {
        bail!("the `publicKey` cannot be read as RSA, P-256 or Ed25519");
    };
    match algorithm {
        Algorithm::ES256 if length(&key) != P256_POINT => bail!("the `publicKey` uses another curve than P-256"),
        Algorithm::EdDSA if length(&key) != ED25519_KEY => bail!("the `publicKey` uses another curve than Ed25519"),
        _ => Ok(SigningKey { id: None, algorithm, key }),
    }
}
