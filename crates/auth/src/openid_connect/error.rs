//! Why a sign-in at a provider fails.

/// Why a sign-in at a provider fails. The messages are for the log; users see those of the pages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The provider does not answer, or not as it should.
    #[error("the provider cannot be used: {0}")]
    Unreachable(String),
    /// Too many users are signing in at once.
    #[error("too many users are signing in at once")]
    Busy,
    /// The sign-in was not begun in this browser, took too long, or is finished already.
    #[error("the sign-in was not begun in this browser, or too long ago")]
    Expired,
    /// The user or the provider has declined.
    #[error("the provider has declined")]
    Declined,
    /// The answer or a token is not valid; what is wrong with it.
    #[error("invalid {0}")]
    Invalid(&'static str),
    /// The user's e-mail address is not verified, or is in none of the admitted domains.
    #[error("the e-mail address is not verified, or not in an admitted domain")]
    OtherDomain,
}

impl ProviderError {
    /// Returns the error of a callback with the parameter `error` (RFC 6749, 4.1.2.1).
    pub(super) fn from_callback(error: &str) -> Self {
        match error {
            "access_denied" | "login_required" | "interaction_required" | "consent_required" => Self::Declined,
            "temporarily_unavailable" | "server_error" => {
                Self::Unreachable("it reports an error of its own".to_owned())
            }
            _ => Self::Invalid("request, says the provider"),
        }
    }
}
