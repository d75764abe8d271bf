//! Sign-ins that have begun. They are kept in a cookie of the browser, encrypted: the server needs no
//! memory for those that are never finished, and every server of a database can finish them.

use crate::cookies;
use crate::credentials::Credentials;
use crate::sealing::SealingKeys;
use crate::token_parts::now_seconds;
use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};

/// The cookie name without its prefix.
const COOKIE: &str = "cw_sign_in";
/// How long a sign-in at the provider may take, in seconds.
const MAX_AGE: i64 = 15 * 60;
/// Keeps the keys apart from other uses of the same secrets, and binds the cookies to this purpose.
const PURPOSE: &[u8] = b"chatwright openid connect sign-in 1\0";

/// A sign-in that has begun.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSignIn {
    /// The id of the provider.
    pub provider: String,
    /// The parameter `state`, which binds the answer to this browser.
    pub(super) state: String,
    /// The claim `nonce`, which binds the ID token to this sign-in.
    pub(super) nonce: String,
    /// The PKCE verifier, which binds the code to this sign-in.
    pub(super) verifier: String,
    pub(super) redirect_uri: String,
    /// The path to open afterwards.
    pub next: String,
    /// The user whose account gets the identity; `None` to sign in.
    pub link_to: Option<String>,
    /// The user who is signed in and only gets new tokens of the provider.
    #[serde(default)]
    pub tokens_for: Option<String>,
    /// Unix time in seconds.
    pub(super) begun_at: i64,
}

impl PendingSignIn {
    pub(super) fn is_expired(&self) -> bool {
        !(-60..MAX_AGE).contains(&(now_seconds() - self.begun_at))
    }
}

/// Encrypts sign-ins that have begun.
pub struct PendingSignIns {
    keys: SealingKeys,
}

impl PendingSignIns {
    /// Creates the keys from these secrets.
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self { keys: SealingKeys::new(PURPOSE, secrets) }
    }

    /// Returns the cookie for a sign-in.
    pub fn cookie(&self, pending: &PendingSignIn, is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, &self.keys.seal(PURPOSE, &serde_json::to_vec(pending).ok()?)?, MAX_AGE, is_https)
    }

    /// Returns the header that deletes the cookie.
    pub fn expired_cookie(is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, "", 0, is_https)
    }

    /// Returns the sign-in that this browser has begun last.
    pub fn find(&self, sent: &Credentials, is_https: bool) -> Option<PendingSignIn> {
        let cookie = sent.cookie(&cookies::name(COOKIE, is_https)).ok().flatten()?;
        serde_json::from_slice(&self.keys.open(PURPOSE, &cookie)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::Request;
    use axum::http::header::COOKIE as COOKIE_HEADER;

    #[test]
    fn cookies_are_readable_with_their_key_only() {
        let text = |text: &str| text.to_owned();
        let pending = PendingSignIn {
            provider: text("company"),
            state: text("state"),
            nonce: text("nonce"),
            verifier: text("verifier"),
            redirect_uri: text("https://chat.test/auth/openid-connect/company/callback"),
            next: format!("/{}", "x".repeat(1_999)),
            link_to: None,
            tokens_for: None,
            begun_at: now_seconds(),
        };
        let keys = |secrets: &[&str]| PendingSignIns::new(secrets.iter().map(|secret| secret.as_bytes()));
        let set = keys(&["old"]).cookie(&pending, true).unwrap();
        let value = set.to_str().unwrap().split(';').next().unwrap().to_owned();
        assert!(value.starts_with("__Host-cw_sign_in=") && value.len() < 4_000, "{}", value.len());
        let check = |secrets: &[&str], cookie: &str, expected: bool| {
            let request = Request::builder().header(COOKIE_HEADER, cookie).body(axum::body::Body::empty()).unwrap();
            let found = keys(secrets).find(&Credentials::from_request(&request), true);
            assert_eq!(found.as_ref() == Some(&pending), expected, "{secrets:?} {cookie}");
        };
        check(&["old"], &value, true);
        check(&["new", "old"], &value, true);
        check(&["new"], &value, false);
        check(&["old"], &value[..value.len() - 4], false);
        check(&["old"], "__Host-cw_sign_in=", false);
        check(&["old"], &value.replacen("__Host-", "", 1), false);
        assert!(!pending.is_expired());
        assert!(PendingSignIn { begun_at: now_seconds() - MAX_AGE, ..pending.clone() }.is_expired());
        assert!(PendingSignIn { begun_at: now_seconds() + 3_600, ..pending.clone() }.is_expired());
    }
}
