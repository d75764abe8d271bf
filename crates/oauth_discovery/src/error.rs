//! Why a request to an authorization server fails.

use egress::EgressError;

/// Why a request to an authorization server failed. The messages contain nothing that a server has sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OauthError {
    /// There is no answer, or one that says that it failed.
    #[error("{0} cannot be reached: {1}")]
    Unreachable(&'static str, String),
    /// The answer cannot be used.
    #[error("{0}")]
    Invalid(&'static str),
    /// The authorization server has refused the request, with one of the codes of RFC 6749.
    #[error("the authorization server refuses it: {0}")]
    Refused(&'static str),
    /// One of several servers has refused the request: which one, and the code.
    #[error("{0} refuses it: {1}")]
    RefusedBy(&'static str, &'static str),
    /// The user or the authorization server has declined.
    #[error("access was declined")]
    Declined,
    /// The answer belongs to no request of this browser, or comes too late.
    #[error("it was not begun in this browser, or took too long")]
    Expired,
}

impl OauthError {
    /// Returns whether the grant was used, revoked or has expired: nothing helps but a new one.
    pub fn is_invalid_grant(&self) -> bool {
        *self == Self::Refused("invalid_grant")
    }

    pub(crate) fn unreachable(receiver: &'static str) -> impl Fn(EgressError) -> Self {
        move |error| Self::Unreachable(receiver, error.to_string())
    }
}
