//! Authenticates the caller: a directory, with one of its tokens.

use crate::PREFIX;
use crate::error::ScimError;
use auth::reached_origin;
use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use capability::Context;
use config::{AccountAuth, AuthMode, Config};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::num::NonZeroU32;
use std::sync::Arc;
use web::openapi::RouteInput;

/// How many requests with a valid token are accepted at once, and per second.
const REQUESTS: (u32, u32) = (500, 100);
/// How many requests without one are answered at once, and per second.
const REFUSALS: (u32, u32) = (30, 1);

/// The state of the routes.
pub(crate) struct Scim {
    pub(crate) context: Context,
    pub(crate) limits: Arc<Limits>,
}

/// Bounds the rate of requests. Requests without a valid token have a bound of their own, so that nobody can keep
/// the directory away.
pub(crate) struct Limits {
    requests: DefaultDirectRateLimiter,
    refusals: DefaultDirectRateLimiter,
}

impl Default for Limits {
    fn default() -> Self {
        let number = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let limiter =
            |(burst, rate): (u32, u32)| RateLimiter::direct(Quota::per_second(number(rate)).allow_burst(number(burst)));
        Self { requests: limiter(REQUESTS), refusals: limiter(REFUSALS) }
    }
}

fn count(limiter: &DefaultDirectRateLimiter) -> Result<(), ScimError> {
    limiter.check().map_err(|refused| {
        let wait = refused.wait_time_from(DefaultClock::default().now()).as_secs();
        ScimError::too_many(u32::try_from(wait).unwrap_or(u32::MAX).saturating_add(1))
    })
}

/// Extracts the directory. It is the first extractor of every route, so that nobody else learns anything from
/// errors.
pub(crate) struct Directory {
    /// The config in use.
    config: Arc<Config>,
    /// The address below which the resources are, without a slash at the end.
    pub(crate) base: String,
}

impl Directory {
    /// The settings of accounts.
    pub(crate) fn accounts(&self) -> Option<&AccountAuth> {
        accounts(&self.config)
    }
}

fn accounts(config: &Config) -> Option<&AccountAuth> {
    match &config.auth.mode {
        AuthMode::Accounts(accounts) => Some(accounts),
        AuthMode::Local | AuthMode::Anonymous | AuthMode::Jwt(_) | AuthMode::Proxy(_) => None,
    }
}

impl FromRequestParts<Arc<Scim>> for Directory {
    type Rejection = ScimError;

    async fn from_request_parts(parts: &mut Parts, scim: &Arc<Scim>) -> Result<Self, ScimError> {
        let config = scim.context.current.config();
        let tokens = accounts(&config).map(|accounts| accounts.scim_tokens.as_slice()).unwrap_or_default();
        if tokens.is_empty() {
            return Err(ScimError::not_found("This server has no directory: the config lacks `auth.scim`."));
        }
        let sent = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer);
        if !sent.is_some_and(|sent| is_token(sent, tokens)) {
            count(&scim.limits.refusals)?;
            tracing::warn!("a request to SCIM has no valid token");
            return Err(ScimError::unauthenticated());
        }
        count(&scim.limits.requests)?;
        let base = base(parts, &config);
        Ok(Self { config, base })
    }
}

impl RouteInput for Directory {}

/// Returns the token of the header, whose scheme may be written in any case.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Hashes are compared, and with all tokens, so that the time reveals nothing about them.
fn is_token(sent: &str, tokens: &[SecretString]) -> bool {
    let sent = Sha256::digest(sent);
    tokens.iter().fold(false, |found, token| (Sha256::digest(token.expose_secret()) == sent) | found)
}

/// Returns the address of the resources under the name by which the client has reached the server.
fn base(parts: &Parts, config: &Config) -> String {
    // Requests with other host names are refused before this code runs.
    let origin = reached_origin(parts, &config.auth.public_urls).unwrap_or_default();
    format!("{origin}{}", PREFIX.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_accepted_as_bearer_tokens_only() {
        let tokens = ["first-token", "second-token"].map(|token| SecretString::from(token.to_owned()));
        let check = |header: &str, expected: bool| {
            assert_eq!(bearer(header).is_some_and(|sent| is_token(sent, &tokens)), expected, "{header}");
        };
        check("Bearer first-token", true);
        check("bearer second-token", true);
        check("Bearer  first-token ", true);
        check("Bearer first-toke", false);
        check("Bearer first-tokens", false);
        check("Bearer ", false);
        check("Basic first-token", false);
        check("first-token", false);
        check("", false);
    }
}
