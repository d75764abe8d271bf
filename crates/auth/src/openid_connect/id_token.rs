//! Verifies ID tokens (OpenID Connect Core 1.0, 3.1.3.7).

use super::ProviderError;
use super::claims::id_claim;
use super::token_request::Tokens;
use crate::jwt::{Jwt, TokenError};
use crate::token_parts::now_seconds;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use config::OpenIdProvider;
use jsonwebtoken::{Algorithm, decode_header};
use ring::digest::{SHA256, SHA512, digest};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The claims of an ID token that is not verified here: it was, at the sign-in, or comes from the token endpoint itself
/// (OpenID Connect Core 1.0, 3.1.3.7, 6).
#[derive(Clone, Debug, Deserialize)]
pub struct IdTokenClaims {
    /// The issuer.
    #[serde(rename = "iss")]
    pub issuer: String,
    /// The issuer's id of the user.
    #[serde(rename = "sub")]
    pub subject: String,
    /// When the token expires, as Unix time in seconds.
    #[serde(rename = "exp")]
    expires_at: f64,
}

impl IdTokenClaims {
    /// Reads the claims; `None` if the text is no ID token.
    pub fn read(token: &str) -> Option<Self> {
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
        serde_json::from_slice(&claims).ok()
    }

    /// Returns when the token expires, as Unix time in milliseconds.
    pub fn expires_at(&self) -> i64 {
        (self.expires_at * 1_000.0) as i64
    }
}

/// The longest time since an ID token was issued, in seconds.
const MAX_AGE: i64 = 600;

/// Returns the claims of an ID token that was issued for this sign-in.
pub(super) async fn verify(
    verifier: &Jwt,
    settings: &OpenIdProvider,
    tokens: &Tokens,
    nonce: &str,
) -> Result<Map<String, Value>, ProviderError> {
    let token = tokens.id_token.expose_secret();
    let claims = verifier.verified_claims(token).await.map_err(from_token_error)?;
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("nonce") != Some(nonce) {
        return Err(ProviderError::Invalid("nonce of the ID token"));
    }
    let has_others = claims.get("aud").and_then(Value::as_array).is_some_and(|all| all.len() > 1);
    let is_party = text("azp").is_some_and(|party| party == settings.client_id);
    if (has_others || claims.contains_key("azp")) && !is_party {
        return Err(ProviderError::Invalid("authorized party of the ID token"));
    }
    let leeway = i64::try_from(settings.leeway.as_secs()).unwrap_or_default();
    let age = claims.get("iat").and_then(Value::as_f64).map(|issued| now_seconds() as f64 - issued);
    if !age.is_some_and(|age| (-leeway as f64..=(MAX_AGE + leeway) as f64).contains(&age)) {
        return Err(ProviderError::Invalid("time of the ID token"));
    }
    if id_claim(&claims, "sub").is_none() {
        return Err(ProviderError::Invalid("subject of the ID token"));
    }
    if let Some(expected) = claims.get("at_hash") {
        let access = tokens.access_token.as_ref().map(|token| token.expose_secret());
        let algorithm = decode_header(token).map(|header| header.alg).ok();
        let hash = access.zip(algorithm).map(|(token, algorithm)| access_token_hash(token, algorithm));
        if expected.as_str() != hash.as_deref() {
            return Err(ProviderError::Invalid("access token hash of the ID token"));
        }
    }
    Ok(claims)
}

/// Returns the left half of the hash that belongs to the algorithm of the ID token.
fn access_token_hash(token: &str, algorithm: Algorithm) -> String {
    // Ed25519 hashes with SHA-512; all others that are accepted, with SHA-256.
    let kind = if algorithm == Algorithm::EdDSA { &SHA512 } else { &SHA256 };
    let hash = digest(kind, token.as_bytes());
    URL_SAFE_NO_PAD.encode(&hash.as_ref()[..hash.as_ref().len() / 2])
}

pub(super) fn from_token_error(error: TokenError) -> ProviderError {
    match error {
        TokenError::NoKeys => ProviderError::Unreachable("its keys cannot be loaded".to_owned()),
        TokenError::Signature => ProviderError::Invalid("signature of the token"),
        TokenError::Expired => ProviderError::Invalid("token: it has expired"),
        TokenError::NotYetValid => ProviderError::Invalid("token: it is not valid yet"),
        TokenError::Audience => ProviderError::Invalid("audience of the token"),
        TokenError::Issuer => ProviderError::Invalid("issuer of the token"),
        TokenError::MissingClaim => ProviderError::Invalid("token: a claim is missing"),
        TokenError::Malformed | TokenError::NoUser | TokenError::SiteClaims => ProviderError::Invalid("token"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_id_tokens_are_read() {
        let check = |claims: &str, expected: Option<(&str, &str, i64)>| {
            let read = IdTokenClaims::read(&format!("e30.{}.x", URL_SAFE_NO_PAD.encode(claims)));
            let seen = read.as_ref().map(|read| (read.issuer.as_str(), read.subject.as_str(), read.expires_at()));
            assert_eq!(seen, expected, "{claims}");
        };
        check(r#"{"iss":"https://id.test","sub":"ada","exp":12,"aud":"a"}"#, Some(("https://id.test", "ada", 12_000)));
        check(r#"{"iss":"https://id.test","sub":"ada","exp":1.5}"#, Some(("https://id.test", "ada", 1_500)));
        check(r#"{"iss":"https://id.test","sub":"ada"}"#, None);
        check("<html>", None);
        assert!(IdTokenClaims::read("opaque").is_none());
    }

    /// The example of OpenID Connect Core 1.0, appendix A.3.
    #[test]
    fn access_token_hash_is_that_of_the_specification() {
        let hash = access_token_hash("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", Algorithm::RS256);
        assert_eq!(hash, "77QmUPtjPfzWtF2AnpK9RQ");
        assert_eq!(access_token_hash("x", Algorithm::EdDSA).len(), 43);
    }
}
