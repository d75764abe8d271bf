//! The keys that sign tokens: one of the config, or those that are published at an address.

use super::published::Published;
use anyhow::{Context, anyhow, bail};
use config::JwtKeys;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Keys of one set; more are left out.
const MAX_KEYS: usize = 64;
/// An uncompressed point of the curve P-256 (SEC 1, 2.3.3).
const P256_POINT: usize = 65;
/// A public key of Ed25519 (RFC 8032).
const ED25519_KEY: usize = 32;

/// A key with the one algorithm that it is for.
#[derive(Clone)]
pub(super) struct SigningKey {
    pub(super) id: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// Where keys come from.
pub(super) enum Keys {
    Given(Vec<SigningKey>),
    Published(Box<Published>),
}

impl Keys {
    /// # Errors
    /// One line for the operator.
    pub(super) fn new(settings: &JwtKeys) -> anyhow::Result<Self> {
        Ok(match settings {
            JwtKeys::Secrets(secrets) => Self::Given(secrets.iter().map(of_secret).collect()),
            JwtKeys::Pem(pem) => Self::Given(vec![of_pem(pem)?]),
            JwtKeys::Jwk(jwk) => Self::Given(vec![of_jwk(jwk)?]),
            JwtKeys::Url { url, allow_private } => Self::Published(Box::new(Published::new(url, *allow_private)?)),
        })
    }

    /// The keys that may have signed a token which names this algorithm and this key; none at all when there are no keys yet.
    pub(super) async fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Option<Vec<SigningKey>> {
        match self {
            // A key of the config has no name for its tokens, unless the config gives it one.
            Self::Given(keys) => Some(matching(keys, algorithm, id)),
            Self::Published(published) => published.find(algorithm, id).await,
        }
    }
}

/// A token that names no key may be signed by any, and a key without a name may sign any token.
pub(super) fn matching(keys: &[SigningKey], algorithm: Algorithm, id: Option<&str>) -> Vec<SigningKey> {
    let fits = |key: &&SigningKey| {
        let is_named = id.is_none_or(|id| key.id.as_deref().is_none_or(|known| known == id));
        key.algorithm == algorithm && is_named
    };
    keys.iter().filter(fits).cloned().collect()
}

/// The keys of a set that can be used here; others may be for other things.
///
/// # Errors
/// It is no set of keys.
pub(super) fn of_set(body: &[u8]) -> anyhow::Result<Vec<SigningKey>> {
    let set: Value = serde_json::from_slice(body).context("it is not JSON")?;
    let keys = set["keys"].as_array().context("it has no list `keys`")?;
    Ok(keys.iter().filter_map(|jwk| of_jwk(jwk).ok()).take(MAX_KEYS).collect())
}

fn of_secret(secret: &SecretString) -> SigningKey {
    let key = DecodingKey::from_secret(secret.expose_secret().as_bytes());
    SigningKey { id: None, algorithm: Algorithm::HS256, key }
}

fn of_jwk(jwk: &Value) -> anyhow::Result<SigningKey> {
    let jwk: Jwk = serde_json::from_value(jwk.clone()).map_err(|_| anyhow!("this JSON Web Key cannot be read"))?;
    if jwk.common.public_key_use.as_ref().is_some_and(|of| *of != PublicKeyUse::Signature) {
        bail!("this JSON Web Key is not for signatures");
    }
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        _ => bail!("this JSON Web Key is of a kind that is not supported; use RSA, P-256 or Ed25519"),
    };
    if jwk.common.key_algorithm.is_some_and(|named| named.to_string() != format!("{algorithm:?}")) {
        bail!("this JSON Web Key is for another algorithm than RS256, ES256 and EdDSA");
    }
    let key = DecodingKey::from_jwk(&jwk).map_err(|_| anyhow!("this JSON Web Key cannot be read"))?;
    Ok(SigningKey { id: jwk.common.key_id, algorithm, key })
}

fn of_pem(pem: &str) -> anyhow::Result<SigningKey> {
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
        Algorithm::ES256 if length(&key) != P256_POINT => bail!("the `publicKey` is of another curve than P-256"),
        Algorithm::EdDSA if length(&key) != ED25519_KEY => bail!("the `publicKey` is of another curve than Ed25519"),
        _ => Ok(SigningKey { id: None, algorithm, key }),
    }
}
