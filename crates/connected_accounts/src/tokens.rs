//! The tokens of an account, as they are stored.

use crate::oauth::{ClientIdentity, IssuedTokens, OauthError, OauthHttp, TokenClient, is_usable};
use auth::openid_connect::IdTokenClaims;
use serde::{Deserialize, Serialize};
use settings::user_auth::Service;
use std::fmt;
use url::Url;
use web::times::now_millis;

/// How long before its expiry an access token is renewed, in milliseconds.
const MARGIN: i64 = 30_000;
/// The time of expiry of tokens that were refused.
const REFUSED: i64 = 0;

/// The tokens of an account with what is needed to renew and to revoke them. They are stored only encrypted.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AccountTokens {
    /// The service to which they may be sent.
    identity: String,
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    /// The ID token of a sign-in.
    pub(crate) id_token: Option<String>,
    /// When the access token expires, as Unix time in milliseconds.
    expires_at: Option<i64>,
    pub(crate) source: TokenSource,
}

/// One of the tokens of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Access,
    Id,
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
        Self { identity: service.identity(), access_token, refresh_token, id_token: None, expires_at, source }
    }

    /// Returns the tokens with the ID token of a sign-in, if that can be used.
    pub(crate) fn with_id_token(self, id_token: &str) -> Self {
        Self { id_token: is_usable(id_token).then(|| id_token.to_owned()), ..self }
    }

    /// Returns whether they may be sent to a service.
    pub(crate) fn are_for(&self, service: &Service) -> bool {
        self.identity == service.identity()
    }

    /// Returns which of the tokens a text is.
    pub(crate) fn kind_of(&self, token: &str) -> Option<TokenKind> {
        if self.access_token == token {
            return Some(TokenKind::Access);
        }
        (self.id_token.as_deref() == Some(token)).then_some(TokenKind::Id)
    }

    /// Returns whether a token has to be renewed.
    pub(crate) fn is_expiring(&self, kind: TokenKind) -> bool {
        let is_over = |at: i64| at.saturating_sub(MARGIN) <= now_millis();
        match kind {
            TokenKind::Access => self.expires_at.is_some_and(is_over),
            TokenKind::Id => {
                let claims = self.id_token.as_deref().and_then(IdTokenClaims::read);
                self.expires_at == Some(REFUSED) || claims.is_some_and(|claims| is_over(claims.expires_at()))
            }
        }
    }

    /// Returns the tokens with an access token and an ID token that have to be renewed.
    pub(crate) fn expired(self) -> Self {
        Self { expires_at: Some(REFUSED), ..self }
    }

    /// Returns the ID token after a renewal, in which the provider need not issue a new one. That is for the same user
    /// (OpenID Connect Core 1.0, 12.2).
    fn id_token_after(&self, issued: Option<String>) -> Option<String> {
        let old = self.id_token.as_ref()?;
        let Some(new) = issued else { return (!self.is_expiring(TokenKind::Id)).then(|| old.clone()) };
        let user = |token: &str| IdTokenClaims::read(token).map(|claims| (claims.issuer, claims.subject));
        let is_same = user(old).is_some_and(|old| user(&new) == Some(old));
        if !is_same {
            tracing::warn!("a provider has renewed an ID token with one of another user, which is not used");
        }
        is_same.then_some(new)
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
        let id_token = self.id_token_after(issued.id_token);
        let renewed = Self { access_token: issued.access_token, refresh_token, id_token, expires_at, ..self.clone() };
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
