//! The headers of a request.

use crate::Rejection;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;

/// The most signatures of a header that are compared.
const MAX_SIGNATURES: usize = 16;

/// The bytes of a signature.
pub(crate) type Signature = [u8; 32];

/// Returns a header that occurs once.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<&'h str, Rejection> {
    optional(headers, name)?.ok_or(Rejection::Missing(name))
}

/// Returns a header that occurs at most once.
pub(crate) fn optional<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<Option<&'h str>, Rejection> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match value.to_str() {
        Ok(text) if values.next().is_none() => Ok(Some(text.trim())),
        _ => Err(Rejection::Malformed(name)),
    }
}

/// Reads the signatures of Standard Webhooks: `v1,BASE64`, separated by spaces. Other versions are
/// left out.
pub(crate) fn standard_signatures(text: &str) -> Vec<Signature> {
    let signatures = text.split_ascii_whitespace().filter_map(|signature| signature.strip_prefix("v1,"));
    signatures.take(MAX_SIGNATURES).filter_map(|encoded| STANDARD.decode(encoded).ok()?.try_into().ok()).collect()
}

/// The contents of the header `Stripe-Signature`.
pub(crate) struct StripeSignature<'h> {
    /// The signed time.
    pub(crate) timestamp: &'h str,
    /// The signatures of version 1.
    pub(crate) signatures: Vec<Signature>,
}

/// Reads `t=TIME,v1=HEX,…`. Other keys are left out. `None` without a time, or with two.
pub(crate) fn stripe_signature(text: &str) -> Option<StripeSignature<'_>> {
    let pairs = || text.split(',').filter_map(|pair| pair.trim().split_once('='));
    let mut times = pairs().filter(|(key, _)| *key == "t");
    let (_, timestamp) = times.next()?;
    if times.next().is_some() {
        return None;
    }
    let signatures = pairs().filter(|(key, _)| *key == "v1").take(MAX_SIGNATURES);
    Some(StripeSignature { timestamp, signatures: signatures.filter_map(|(_, hex)| from_hex(hex)).collect() })
}

/// Reads a signature in hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Signature> {
    let mut signature = [0; 32];
    hex::decode_to_slice(text, &mut signature).ok()?;
    Some(signature)
}

/// Reads a time in whole seconds. Signs and spaces are refused, since the text is signed as it is.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let is_number = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}
