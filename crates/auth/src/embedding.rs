//! Chats that are embedded in pages of other sites.
//!
//! A frame on another site's page identifies its user with headers that its script sets from
//! memory. Cookies are no alternative: some browsers send none there, and the others would send
//! them everywhere.

use super::authentication::{AuthMethod, Authentication, Identity, token_error};
use super::credentials::Credentials;
use super::jwt::{Jwt, TokenError};
use super::token_parts::now_seconds;
use axum::http::{HeaderMap, HeaderValue, header};
use chat::Caller;
use config::Embed;
use serde::Deserialize;
use wire::{ErrorCode, UserError};

/// The sites that may embed chats, and how they identify their users.
pub(super) struct Embedding {
    origins: Vec<String>,
    tokens: Option<Jwt>,
}

/// The credentials with which a frame opens.
#[derive(Deserialize)]
pub struct EmbedCredentials {
    /// The token that the site's server has signed.
    #[serde(default)]
    token: String,
    /// The visitor of an earlier visit.
    #[serde(default)]
    visitor: String,
}

impl Embedding {
    /// Creates the embedding of a config.
    ///
    /// # Errors
    /// The key cannot be used.
    pub(super) fn new(embed: &Embed) -> anyhow::Result<Self> {
        Ok(Self { origins: embed.origins.clone(), tokens: embed.tokens.as_ref().map(Jwt::new).transpose()? })
    }

    pub(super) fn accepts_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Returns the user of an embed token; `None` if the token is not meant as one. `has_others`
    /// tells that bearer tokens of other kinds are accepted, too.
    pub(super) async fn user(&self, token: &str, has_others: bool) -> Result<Option<Caller>, TokenError> {
        match &self.tokens {
            Some(jwt) if !has_others || jwt.is_intended(token) => jwt.site_user(token).await.map(Some),
            _ => Ok(None),
        }
    }
}

impl Authentication {
    /// Returns whether pages of this origin may embed chats.
    pub fn may_embed(&self, origin: &str) -> bool {
        self.embedding.as_ref().is_some_and(|embedding| embedding.origins.iter().any(|known| known == origin))
    }

    /// Identifies the caller who opens an embedded chat; also returns the visitor value that the
    /// frame sends from then on.
    ///
    /// # Errors
    /// As [`Authentication::identify`]. An invalid token is an error and never ignored.
    pub async fn identify_embedded(
        &self,
        headers: &HeaderMap,
        sent: &Credentials,
        entry: &EmbedCredentials,
    ) -> Result<(Identity, Option<String>), UserError> {
        if !entry.token.is_empty() && !self.accepts_tokens() {
            let message = "This server does not accept tokens for embedded chats. Its operator can allow them with `tokens` in the section `embed`.";
            return Err(UserError::new(ErrorCode::Unauthenticated, message));
        }
        // In other requests, a token of another kind would be ignored, and its user treated as a
        // visitor.
        if let Some(embedding) = self.embedding.as_ref().filter(|_| !entry.token.is_empty() && !self.uses_jwt()) {
            embedding.user(&entry.token, false).await.map_err(token_error)?;
        }
        let mut headers = headers.clone();
        let unreadable = |_| token_error(TokenError::Malformed);
        if !entry.token.is_empty() {
            let bearer = HeaderValue::from_str(&format!("Bearer {}", entry.token)).map_err(unreadable)?;
            headers.insert(header::AUTHORIZATION, bearer);
            headers.remove(header::COOKIE);
        }
        let renewed = (!self.is_local()).then(|| {
            let seen = self.visitors.identify(Some(&entry.visitor), now_seconds());
            seen.new_cookie.unwrap_or_else(|| entry.visitor.clone())
        });
        if let Some(visitor) = &renewed {
            headers.insert(super::visitors::HEADER, HeaderValue::from_str(visitor).map_err(unreadable)?);
        }
        let known = self.identify(&sent.with_headers(headers)).await?;
        if matches!(known.auth_method, AuthMethod::Key(_)) {
            return Err(UserError::new(ErrorCode::Forbidden, "API keys cannot be used for this request."));
        }
        if let Some(ended) = known.ended {
            return Err(ended);
        }
        let visitor = renewed.filter(|_| !known.caller.is_authenticated);
        Ok((known, visitor))
    }
}
