//! Connections that have begun. They are kept in a cookie of the browser, encrypted: the server needs no memory for those
//! that are never finished, and every server of a database can finish them.

use crate::oauth::Authorization;
use crate::secrets::Keys;
use crate::tokens::TokenSource;
use auth::{Credentials, cookies};
use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};
use web::times::now_millis;

/// The cookie name without its prefix.
const COOKIE: &str = "cw_connect";
/// How long the user has, in seconds.
const MAX_AGE: i64 = 15 * 60;
/// The longest cookie in bytes, as browsers accept it.
const MAX_COOKIE: usize = 3_900;
const CONTEXT: &[&str] = &["pending"];

/// A connection that has begun.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct PendingConnection {
    /// The user who has begun it.
    pub(crate) user_id: String,
    /// The name of the service.
    pub(crate) service: String,
    /// The service, as the config had it.
    pub(crate) identity: String,
    pub(crate) authorization: Authorization,
    pub(crate) source: TokenSource,
    pub(crate) redirect_uri: String,
    /// The requested scopes.
    pub(crate) scopes: Vec<String>,
    /// The registration of the client, if it was registered.
    pub(crate) registration: Option<String>,
    /// Unix time in milliseconds.
    pub(crate) begun_at: i64,
}

impl PendingConnection {
    /// Returns whether it took too long.
    pub(crate) fn is_expired(&self) -> bool {
        !(-60_000..MAX_AGE * 1_000).contains(&(now_millis() - self.begun_at))
    }

    /// Returns the cookie.
    ///
    /// # Errors
    /// There is no key, or it would be too long.
    pub(crate) fn cookie(&self, keys: &Keys, is_https: bool) -> Result<HeaderValue, String> {
        let sealed = keys.seal(CONTEXT, self)?;
        let cookie = cookies::set(COOKIE, &sealed, MAX_AGE, is_https).filter(|_| sealed.len() <= MAX_COOKIE);
        cookie.ok_or_else(|| "the authorization server's answers are too long".to_owned())
    }

    /// Returns the header that deletes the cookie.
    pub(crate) fn expired_cookie(is_https: bool) -> Option<HeaderValue> {
        cookies::set(COOKIE, "", 0, is_https)
    }

    /// Returns the connection that this browser has begun last.
    pub(crate) fn find(keys: &Keys, sent: &Credentials, is_https: bool) -> Option<Self> {
        let cookie = sent.cookie(&cookies::name(COOKIE, is_https)).ok().flatten()?;
        keys.open(CONTEXT, &cookie)
    }
}
