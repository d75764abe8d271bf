//! The port that provides tokens of users for web services.

use contract::{Bearer, RunScope};
use futures::future::BoxFuture;

/// How often a request is sent again with another token.
pub(crate) const MAX_RENEWALS: usize = 1;

/// Why a web service cannot be called on behalf of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoUserToken {
    /// Why, as a sentence for models, without secrets.
    pub message: String,
    /// Instructions with which the user can solve it, as sentences; `None` if they cannot.
    pub for_user: Option<String>,
}

/// Why the request of a step failed.
pub(crate) enum RequestFailure {
    /// The message is for the caller of the routine.
    Failed(String),
    /// There is no token of the user.
    NoToken(NoUserToken),
}

impl From<String> for RequestFailure {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

/// Provides the tokens with which one web service is called on behalf of users.
pub trait UserTokens: Send + Sync + 'static {
    /// Returns the token for a user.
    ///
    /// # Errors
    /// There is none.
    fn token<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<Bearer, NoUserToken>>;

    /// Records that the service has refused a token with this value of `WWW-Authenticate`. Returns whether there may be
    /// another one.
    fn refused<'a>(&'a self, scope: &'a RunScope, token: &'a Bearer, challenge: &'a str) -> BoxFuture<'a, bool>;
}
