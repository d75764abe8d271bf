//! The token of a user.

use std::fmt;
use std::sync::Arc;

/// The token of a user. It is only sent to services that are called on the user's behalf, and is
/// neither displayed nor stored.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bearer(Arc<str>);

impl Bearer {
    /// Wraps a token, without the scheme name before it.
    pub fn new(token: &str) -> Self {
        Self(token.into())
    }

    /// Returns the token, for a request header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(..)")
    }
}
