//! The tokens of an account, as they are stored.

use crate::oauth::{ClientIdentity, IssuedTokens, OauthError, OauthHttp, TokenClient};
use serde::{Deserialize, Serialize};
use settings::user_auth::Service;
use std::fmt;
use url::Url;
use web::times::now_millis;

/// How long before its expiry an access token is renewed, in milliseconds.
const MARGIN: i64 = 30_000;

/// The tokens of an account with what is needed to renew and to revoke them. They are stored only encrypted.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AccountTokens {
    /// The service to which they may be sent.
    identity: String,
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    /// When the access token expires, as Unix time in milliseconds.
    expires_at: Option<i64>,
    pub(crate) source: TokenSource,
}

/// The issuer of an account's tokens, and the client to which they are issued.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct TokenSource {
    pub(crate) token_endpoint: Url,
    pub(crate) revocation_endpoint: Option<Url>,
    pub(crate) client: ClientIdentity,
    pub(crate) resource: String,
    /// Whether the endpoints may be on this machine and its networks.
    pub(crate) allow_private: bool,
}

impl AccountTokens {
    /// Creates the tokens of a service.
    pub(crate) fn new(service: &Service, issued: &IssuedTokens, source: TokenSource) -> Self {
        let expires_at = expiry(issued);
        let (access_token, refresh_token) = (issued.access_token.clone(), issued.refresh_token.clone());
        Self { identity: service.identity(), access_token, refresh_token, expires_at, source }
    }

    /// Returns whether they may be sent to a service.
    pub(crate) fn are_for(&self, service: &Service) -> bool {
        self.identity == service.identity()
    }

    /// Returns whether the access token has to be renewed.
    pub(crate) fn is_expiring(&self) -> bool {
        self.expires_at.is_some_and(|at| at - MARGIN <= now_millis())
    }

    /// Returns the tokens with an access token that has to be renewed.
    pub(crate) fn expired(self) -> Self {
        Self { expires_at: Some(0), ..self }
    }

    /// Renews the tokens. Returns them with the granted scopes, if these have changed.
    pub(crate) async fn renew(&self) -> Result<(Self, Option<Vec<String>>), OauthError> {
        let refresh_token = self.refresh_token.as_deref().ok_or(OauthError::Refused("invalid_grant"))?;
        let http = OauthHttp::new(self.source.allow_private)?;
        let (endpoint, client) = (&self.source.token_endpoint, &self.source.client);
        let issued =
            TokenClient { http: &http, endpoint, client }.refresh(refresh_token, &self.source.resource).await?;
        let expires_at = expiry(&issued);
        let refresh_token = issued.refresh_token.or_else(|| self.refresh_token.clone());
        let renewed = Self { access_token: issued.access_token, refresh_token, expires_at, ..self.clone() };
        Ok((renewed, issued.scopes))
    }

    /// Revokes the tokens, if the authorization server can do that. With the refresh token, the access tokens end as well.
    pub(crate) async fn revoke(&self) -> Result<(), OauthError> {
        let Some(endpoint) = &self.source.revocation_endpoint else { return Ok(()) };
        let http = OauthHttp::new(self.source.allow_private)?;
        let client = TokenClient { http: &http, endpoint, client: &self.source.client };
        if let Some(token) = &self.refresh_token {
            client.revoke(token, "refresh_token").await?;
        }
        client.revoke(&self.access_token, "access_token").await
    }
}

/// Returns when an access token that was just issued expires, as Unix time in milliseconds.
fn expiry(issued: &IssuedTokens) -> Option<i64> {
    issued.expires_in.map(|seconds| now_millis() + seconds * 1_000)
}

/// Formats nothing secret.
impl fmt::Debug for AccountTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountTokens").field("client", &self.source.client).finish_non_exhaustive()
    }
}
