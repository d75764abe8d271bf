//! Verifies requests.

use crate::headers::{Signature, from_hex, optional, seconds, single, standard_signatures, stripe_signature};
use crate::secret::keys;
use crate::{Rejection, Scheme, SecretError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use ring::hmac;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::Duration;

/// The default tolerance between a signed time and now.
pub const DEFAULT_TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The longest id in bytes.
pub const MAX_ID: usize = 256;

/// The text of which the tags of bearer keys are made. Comparing tags takes the same time for all
/// keys.
const BEARER: &[u8] = b"bearer";

/// Verifies the requests of one sender.
#[derive(Clone)]
pub struct Verifier {
    scheme: Scheme,
    keys: Vec<hmac::Key>,
    tolerance: Duration,
}

/// A request of the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The id, which stays the same when a delivery is repeated; `None` if the sender gives none.
    pub id: Option<String>,
}

impl Verifier {
    /// Creates a verifier that accepts requests that are signed with any of the secrets.
    ///
    /// # Errors
    /// There is no secret, there are too many, or one has another form.
    pub fn new<'s>(scheme: Scheme, secrets: impl IntoIterator<Item = &'s str>) -> Result<Self, SecretError> {
        Ok(Self { scheme, keys: keys(scheme, secrets)?, tolerance: DEFAULT_TOLERANCE })
    }

    /// Sets the tolerance between a signed time and now.
    #[must_use]
    pub fn with_tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// Verifies a request. `body` is the body as it was received, `now` the Unix time in seconds.
    ///
    /// # Errors
    /// The reason why the request is refused, for the operator.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8], now: i64) -> Result<Verified, Rejection> {
        match self.scheme {
            Scheme::Standard => self.standard(headers, body, now),
            Scheme::GitHub => self.github(headers, body),
            Scheme::Stripe => self.stripe(headers, body, now),
            Scheme::Bearer => self.bearer(headers),
        }
    }

    fn standard(&self, headers: &HeaderMap, body: &[u8], now: i64) -> Result<Verified, Rejection> {
        let id = read_id(headers)?.ok_or(Rejection::Missing("webhook-id"))?;
        let timestamp = single(headers, "webhook-timestamp")?;
        let signatures = standard_signatures(single(headers, "webhook-signature")?);
        self.check(&[id.as_bytes(), b".", timestamp.as_bytes(), b".", body], &signatures)?;
        self.check_time(timestamp, "webhook-timestamp", now)?;
        Ok(Verified { id: Some(id.to_owned()) })
    }

    fn github(&self, headers: &HeaderMap, body: &[u8]) -> Result<Verified, Rejection> {
        let name = "x-hub-signature-256";
        let hex = single(headers, name)?.strip_prefix("sha256=").ok_or(Rejection::Malformed(name))?;
        let signature = from_hex(hex).ok_or(Rejection::Malformed(name))?;
        self.check(&[body], &[signature])?;
        Ok(Verified { id: Some(hash(body)) })
    }

    fn stripe(&self, headers: &HeaderMap, body: &[u8], now: i64) -> Result<Verified, Rejection> {
        let name = "stripe-signature";
        let signed = stripe_signature(single(headers, name)?).ok_or(Rejection::Malformed(name))?;
        self.check(&[signed.timestamp.as_bytes(), b".", body], &signed.signatures)?;
        self.check_time(signed.timestamp, name, now)?;
        let event: Option<StripeEvent> = serde_json::from_slice(body).ok();
        let id = event.map(|event| event.id).filter(|id| is_id(id));
        Ok(Verified { id: Some(id.unwrap_or_else(|| hash(body))) })
    }

    fn bearer(&self, headers: &HeaderMap) -> Result<Verified, Rejection> {
        let name = "authorization";
        let (kind, key) = single(headers, name)?.split_once(' ').ok_or(Rejection::Malformed(name))?;
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(Rejection::Malformed(name));
        }
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.trim().as_bytes()), BEARER);
        self.keys
            .iter()
            .fold(false, |found, key| hmac::verify(key, BEARER, tag.as_ref()).is_ok() | found)
            .then_some(())
            .ok_or(Rejection::Mismatch)?;
        Ok(Verified { id: read_id(headers)?.map(str::to_owned) })
    }

    /// Checks that one of the signatures is that of the message, which is given in pieces.
    fn check(&self, message: &[&[u8]], signatures: &[Signature]) -> Result<(), Rejection> {
        let message = message.concat();
        let fits = |key: &hmac::Key| signatures.iter().any(|signature| hmac::verify(key, &message, signature).is_ok());
        if self.keys.iter().any(fits) { Ok(()) } else { Err(Rejection::Mismatch) }
    }

    fn check_time(&self, timestamp: &str, header: &'static str, now: i64) -> Result<(), Rejection> {
        let signed = seconds(timestamp).ok_or(Rejection::Malformed(header))?;
        let tolerance = self.tolerance.as_secs();
        let difference = now.abs_diff(signed);
        if difference <= tolerance {
            return Ok(());
        }
        Err(Rejection::Stale { seconds: difference, is_past: signed < now, tolerance })
    }
}

/// Formats the scheme: keys are secrets.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// The field of Stripe's events that tells them apart.
#[derive(Deserialize)]
struct StripeEvent {
    id: String,
}

fn read_id(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    match optional(headers, "webhook-id")? {
        Some(id) if !is_id(id) => Err(Rejection::Malformed("webhook-id")),
        id => Ok(id),
    }
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

fn hash(body: &[u8]) -> String {
    hex::encode(Sha256::digest(body))
}

/// Returns the headers with which a sender signs a request: for tests of a webhook. `id` is for the
/// schemes with one, `now` is the Unix time in seconds.
///
/// # Errors
/// The secret has another form.
pub fn sign(
    scheme: Scheme,
    secret: &str,
    id: &str,
    body: &[u8],
    now: i64,
) -> Result<Vec<(&'static str, String)>, SecretError> {
    let keys = keys(scheme, [secret])?;
    let signature = |message: &[&[u8]]| match keys.first() {
        Some(key) => hmac::sign(key, &message.concat()).as_ref().to_vec(),
        None => Vec::new(),
    };
    let time = now.to_string();
    Ok(match scheme {
        Scheme::Standard => {
            let signature = STANDARD.encode(signature(&[id.as_bytes(), b".", time.as_bytes(), b".", body]));
            let id = ("webhook-id", id.to_owned());
            vec![id, ("webhook-timestamp", time), ("webhook-signature", format!("v1,{signature}"))]
        }
        Scheme::GitHub => vec![("x-hub-signature-256", format!("sha256={}", hex::encode(signature(&[body]))))],
        Scheme::Stripe => {
            let signature = hex::encode(signature(&[time.as_bytes(), b".", body]));
            vec![("stripe-signature", format!("t={time},v1={signature}"))]
        }
        Scheme::Bearer => {
            vec![("authorization", format!("Bearer {}", secret.trim())), ("webhook-id", id.to_owned())]
        }
    })
}
