//! The common parts of all clients of OAuth: their credentials, PKCE, and the errors of token endpoints.

mod assertion;

pub use assertion::{ASSERTION_TYPE, client_assertion, is_signing_key};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::form_urlencoded::byte_serialize;

/// The errors of token endpoints: those of RFC 6749 (5.2) and of RFC 8693 (2.2.2), one of Entra ID, and two of GitHub.
const ERRORS: [&str; 10] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
    "interaction_required",
    "bad_verification_code",
    "bad_refresh_token",
];

/// Returns the value of `Authorization` with which a client proves who it is. Both parts are form-encoded before they are
/// joined (RFC 6749, 2.3.1).
pub fn basic_credentials(client_id: &str, secret: &str) -> HeaderValue {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = SecretString::from(format!("{}:{}", encode(client_id), encode(secret)));
    let text = SecretString::from(format!("Basic {}", STANDARD.encode(pair.expose_secret())));
    // Base64 is valid in a header.
    let value = HeaderValue::from_str(text.expose_secret());
    let mut value = value.unwrap_or_else(|_| HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

/// Returns the challenge of a verifier with the method `S256` (RFC 7636, 4.2).
pub fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// Returns the `error` in the answer of a token endpoint; `None` if it is not a known one, since the text is somebody
/// else's.
pub fn error_code(body: &[u8]) -> Option<&'static str> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let code = ERRORS.into_iter().find(|known| body["error"] == **known)?;
    Some(if matches!(code, "bad_verification_code" | "bad_refresh_token") { "invalid_grant" } else { code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_before_they_are_joined() {
        let value = basic_credentials("chat wright", "a:b%ü\n");
        assert!(value.is_sensitive());
        let encoded = value.to_str().unwrap().strip_prefix("Basic ").unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap(), b"chat+wright:a%3Ab%25%C3%BC%0A");
    }

    /// The example of RFC 7636, appendix B.
    #[test]
    fn challenge_is_that_of_the_standard() {
        let challenge = code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn only_known_errors_are_repeated() {
        let check = |body: &str, expected: Option<&str>| assert_eq!(error_code(body.as_bytes()), expected, "{body}");
        check(r#"{"error":"invalid_client","error_description":"secret"}"#, Some("invalid_client"));
        check(r#"{"error":"bad_refresh_token"}"#, Some("invalid_grant"));
        check(r#"{"error":"<script>"}"#, None);
        check(r#"{"error":7}"#, None);
        check("<html>", None);
    }
}
