//! Token exchange (RFC 8693): a token of the user for one service only, for the token with which they are signed in.

use crate::assertion;
use crate::oauth::{ClientIdentity, ExchangeRequest, IssuedTokens, OauthError, OauthHttp, TokenClient};
use crate::tokens::TokenSource;
use contract::{Bearer, RunScope};
use parking_lot::Mutex;
use settings::user_auth::{ExchangeAuth, ExchangeWay, Service};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The most tokens that are kept; beyond that, those that expire first are forgotten.
const MAX_KEPT: usize = 10_000;
/// How long a token is kept whose lifetime is not known.
const UNKNOWN_LIFE: Duration = Duration::from_secs(60);
/// The longest time for which a token is kept.
const MAX_LIFE: Duration = Duration::from_secs(3_600);
/// How long before its expiry a token is no longer used.
const MARGIN: Duration = Duration::from_secs(15);

/// A token of a user's sign-in, which is exchanged.
pub(crate) struct Subject {
    pub(crate) token: Bearer,
    /// The issuer of an ID token, and the client to which it is issued; `None` for an access token.
    pub(crate) source: Option<TokenSource>,
}

/// The exchanged tokens, in memory only.
#[derive(Default)]
pub(crate) struct Exchanges(Mutex<HashMap<[u8; 32], Exchanged>>);

#[derive(Clone)]
struct Exchanged {
    token: Bearer,
    until: Instant,
}

impl Exchanges {
    /// Returns the token of the user of a run for a service, for which the token of their sign-in is exchanged.
    ///
    /// # Errors
    /// The authorization server refuses it, or cannot be reached.
    pub(crate) async fn token(
        &self,
        service: &Service,
        exchange: &ExchangeAuth,
        (scope, subject): (&RunScope, &Subject),
    ) -> Result<Bearer, OauthError> {
        let key = key(service, exchange, scope, &subject.token);
        let kept = self.0.lock().get(&key).filter(|kept| Instant::now() < kept.until).map(|kept| kept.token.clone());
        if let Some(token) = kept {
            return Ok(token);
        }
        let begun = Instant::now();
        let issued = ask(service, exchange, subject).await.inspect_err(|error| {
            tracing::warn!(service = service.name, %error, "the token of a user cannot be exchanged");
        })?;
        let token = Bearer::new(&issued.access_token);
        let seconds = issued.expires_in.map(|seconds| seconds.max(0).unsigned_abs());
        let life = seconds.map_or(UNKNOWN_LIFE, |seconds| Duration::from_secs(seconds).min(MAX_LIFE));
        // A token whose lifetime is shorter than twice the margin is used for half of it.
        let until = begun + life.saturating_sub(MARGIN.min(life / 2));
        self.keep(key, Exchanged { token: token.clone(), until });
        Ok(token)
    }

    /// Forgets a token that its service has refused.
    pub(crate) fn forget(&self, refused: &Bearer) {
        self.0.lock().retain(|_, kept| kept.token != *refused);
    }

    fn keep(&self, key: [u8; 32], exchanged: Exchanged) {
        let mut kept = self.0.lock();
        if kept.len() >= MAX_KEPT {
            let now = Instant::now();
            kept.retain(|_, kept| now < kept.until);
            if kept.len() >= MAX_KEPT {
                let mut ends: Vec<_> = kept.values().map(|kept| kept.until).collect();
                let (_, median, _) = ends.select_nth_unstable(MAX_KEPT / 2);
                let median = *median;
                kept.retain(|_, kept| median < kept.until);
            }
        }
        kept.insert(key, exchanged);
    }
}

/// Tokens are kept for one user, sign-in and service; a token itself is not kept as a key.
fn key(service: &Service, exchange: &ExchangeAuth, scope: &RunScope, subject: &Bearer) -> [u8; 32] {
    let parts = [&scope.user_id, subject.expose(), &service.identity(), &exchange.scopes.join(" ")];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Requests a token.
async fn ask(service: &Service, exchange: &ExchangeAuth, subject: &Subject) -> Result<IssuedTokens, OauthError> {
    let issued = match (&exchange.way, &subject.source) {
        (ExchangeWay::Token { endpoint, audience }, _) => {
            let http = OauthHttp::new(service.allow_private)?;
            let client = ClientIdentity::from_config(&exchange.client, None);
            let request = ExchangeRequest {
                subject: subject.token.expose(),
                audience: audience.as_deref(),
                resource: service.url.as_str(),
                scopes: &exchange.scopes,
            };
            TokenClient { http: &http, endpoint, client: &client }.exchange(&request).await?
        }
        (ExchangeWay::Assertion { issuer }, Some(source)) => {
            assertion::ask(service, (exchange, issuer.as_ref()), (&subject.token, source)).await?
        }
        (ExchangeWay::Assertion { .. }, None) => {
            return Err(OauthError::Invalid(
                "the token of the request is no ID token, for which alone an assertion is issued",
            ));
        }
    };
    // Scopes may be narrowed, but not widened.
    let is_wider = |granted: &Vec<String>| {
        !exchange.scopes.is_empty() && granted.iter().any(|scope| !exchange.scopes.contains(scope))
    };
    if issued.scopes.as_ref().is_some_and(is_wider) {
        return Err(OauthError::Invalid("the exchanged token has scopes that were not asked for"));
    }
    Ok(issued)
}
