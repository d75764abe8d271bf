//! Verifies logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.6).

use super::ProviderError;
use super::claims::id_claim;
use super::id_token::from_token_error;
use crate::jwt::Jwt;
use serde_json::{Map, Value};

/// The event that a logout token must contain.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The sessions that a provider has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderLogout {
    /// One of its sessions, and its subject, if the token names one.
    Session(String, Option<String>),
    /// All sessions of a subject.
    Subject(String),
}

/// Returns what a logout token ends.
pub(super) async fn verify(verifier: &Jwt, token: &str) -> Result<ProviderLogout, ProviderError> {
    let claims = verifier.verified_claims(token).await.map_err(from_token_error)?;
    ended(&claims).ok_or(ProviderError::Invalid("logout token"))
}

fn ended(claims: &Map<String, Value>) -> Option<ProviderLogout> {
    // A nonce would make it look like an ID token.
    let is_logout = claims.get("events")?.get(EVENT)?.is_object() && !claims.contains_key("nonce");
    let id = |name: &str| id_claim(claims, name).map(str::to_owned);
    match (id("sid"), id("sub")) {
        _ if !is_logout => None,
        (Some(session), subject) => Some(ProviderLogout::Session(session, subject)),
        (None, subject) => subject.map(ProviderLogout::Subject),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_logout_events_end_sessions() {
        let check = |claims: Value, expected: Option<ProviderLogout>| {
            assert_eq!(ended(claims.as_object().unwrap()), expected, "{claims}");
        };
        let events = json!({ EVENT: {} });
        let session = |subject: Option<&str>| ProviderLogout::Session("1".to_owned(), subject.map(str::to_owned));
        check(json!({ "events": events, "sid": "1", "sub": "ada" }), Some(session(Some("ada"))));
        check(json!({ "events": events, "sid": "1" }), Some(session(None)));
        check(json!({ "events": events, "sub": "ada" }), Some(ProviderLogout::Subject("ada".to_owned())));
        check(json!({ "events": events }), None);
        check(json!({ "events": events, "sub": "ada", "nonce": "n" }), None);
        check(json!({ "events": { "other": {} }, "sub": "ada" }), None);
        check(json!({ "events": { EVENT: true }, "sub": "ada" }), None);
        check(json!({ "sub": "ada" }), None);
        check(json!({ "events": events, "sub": 7 }), None);
    }
}
