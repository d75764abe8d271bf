//! Chats on pages of other sites: which sites, and for whom.
//!
//! What a frame on another site's page needs to say who its user is travels in headers that its own script sets, out of memory: a browser
//! sends no cookie there that it would not send everywhere, and some send none at all.

use super::authentication::{Authentication, Known, Via, now, of_token};
use super::credentials::Credentials;
use super::jwt::{Jwt, Refused};
use axum::http::{HeaderMap, HeaderValue, header};
use chat::Caller;
use config::Embed;
use serde::Deserialize;
use wire::{ErrorCode, UserError};

/// The sites that may show chats, and how they say who their users are.
pub(super) struct Embedding {
    origins: Vec<String>,
    tokens: Option<Jwt>,
}

/// What a frame gives when it opens.
#[derive(Deserialize)]
pub(crate) struct Entry {
    /// What the site's server has signed.
    #[serde(default)]
    token: String,
    /// Who nobody in particular was the last time.
    #[serde(default)]
    visitor: String,
}

impl Embedding {
    /// # Errors
    /// One line for the operator: the key cannot be used.
    pub(super) fn new(embed: &Embed) -> anyhow::Result<Self> {
        Ok(Self { origins: embed.origins.clone(), tokens: embed.tokens.as_ref().map(Jwt::new).transpose()? })
    }

    pub(super) fn takes_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Who a token says that its bearer is; none when it is not for this. `has_others`: such tokens come here for other reasons, too.
    pub(super) async fn user(&self, token: &str, has_others: bool) -> Result<Option<Caller>, Refused> {
        match &self.tokens {
            Some(jwt) if !has_others || jwt.is_meant(token) => jwt.user_of_site(token).await.map(Some),
            _ => Ok(None),
        }
    }
}

impl Authentication {
    /// Whether a page of this origin may show chats.
    pub(crate) fn may_embed(&self, origin: &str) -> bool {
        self.embedding.as_ref().is_some_and(|embedding| embedding.origins.iter().any(|known| known == origin))
    }

    /// Who opens a frame on another site's page, and what it says of a visitor from then on.
    ///
    /// # Errors
    /// As [`Authentication::identify`]; a token that is no good is refused, and never passed over.
    pub(crate) async fn enter(
        &self,
        headers: &HeaderMap,
        sent: &Credentials,
        entry: &Entry,
    ) -> Result<(Known, Option<String>), UserError> {
        if !entry.token.is_empty() && !self.takes_tokens() {
            let message = "This server does not accept tokens for embedded chats. Its operator can allow them with `tokens` in the section `embed`.";
            return Err(UserError::new(ErrorCode::Unauthenticated, message));
        }
        // Elsewhere a token that is not for this would count for nothing, and its user for nobody.
        if let Some(embedding) = self.embedding.as_ref().filter(|_| !entry.token.is_empty() && !self.has_tokens()) {
            embedding.user(&entry.token, false).await.map_err(of_token)?;
        }
        let mut headers = headers.clone();
        let unreadable = |_| of_token(Refused::Malformed);
        if !entry.token.is_empty() {
            let bearer = HeaderValue::from_str(&format!("Bearer {}", entry.token)).map_err(unreadable)?;
            headers.insert(header::AUTHORIZATION, bearer);
            headers.remove(header::COOKIE);
        }
        let renewed = (!self.is_local()).then(|| {
            let seen = self.visitors.known(Some(&entry.visitor), now());
            seen.renewed.unwrap_or_else(|| entry.visitor.clone())
        });
        if let Some(visitor) = &renewed {
            headers.insert(super::visitors::HEADER, HeaderValue::from_str(visitor).map_err(unreadable)?);
        }
        let known = self.identify(&sent.with(headers)).await?;
        if matches!(known.via, Via::Key(_)) {
            return Err(UserError::new(ErrorCode::Forbidden, "API keys cannot be used for this request."));
        }
        if let Some(ended) = known.ended {
            return Err(ended);
        }
        let visitor = renewed.filter(|_| !known.caller.is_authenticated);
        Ok((known, visitor))
    }
}
