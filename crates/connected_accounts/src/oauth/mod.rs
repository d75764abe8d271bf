//! A client of OAuth 2.1: discovery, registration, the authorization code flow, and requests for tokens. It keeps
//! nothing between the requests, so that any server of a database can go on with what another one has begun.

mod authorization;
mod challenge;
mod client;
mod discovery;
mod http;
mod registration;
mod tokens;

pub(crate) use authorization::{Authorization, Callback, NewAuthorization, authorize};
pub(crate) use challenge::Challenge;
pub(crate) use client::{AuthMethod, ClientIdentity};
pub(crate) use discovery::{Discovery, ServerMetadata, discover};
pub(crate) use http::OauthHttp;
pub(crate) use registration::register;
pub(crate) use tokens::{ExchangeRequest, IssuedTokens, TokenClient};

use egress::EgressError;

/// Why a request to an authorization server failed. The messages contain nothing that a server has sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OauthError {
    /// There is no answer, or one that says that it failed.
    #[error("{0} cannot be reached: {1}")]
    Unreachable(&'static str, String),
    /// The answer cannot be used.
    #[error("{0}")]
    Invalid(&'static str),
    /// The authorization server has refused the request, with one of the codes of RFC 6749.
    #[error("the authorization server refuses it: {0}")]
    Refused(&'static str),
    /// The user or the authorization server has declined.
    #[error("access was declined")]
    Declined,
    /// The answer belongs to no request of this browser, or comes too late.
    #[error("it was not begun in this browser, or took too long")]
    Expired,
}

impl OauthError {
    /// Returns whether the grant was used, revoked or has expired: nothing helps but a new one.
    pub(crate) fn is_invalid_grant(&self) -> bool {
        *self == Self::Refused("invalid_grant")
    }

    fn unreachable(what: &'static str) -> impl Fn(EgressError) -> Self {
        move |error| Self::Unreachable(what, error.to_string())
    }
}
