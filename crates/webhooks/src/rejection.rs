//! The reasons why a request is refused.

use thiserror::Error;

/// The reason why a request is refused, in one sentence for the operator. The sender only learns
/// that it is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rejection {
    /// A header is missing.
    #[error("The header `{0}` is missing.")]
    Missing(&'static str),
    /// A header occurs more than once, or has another form.
    #[error("The header `{0}` cannot be read.")]
    Malformed(&'static str),
    /// The signed time is too far from now.
    #[error("The request was signed {seconds} s {} now; {tolerance} s are allowed.", side(*.is_past))]
    Stale {
        /// The difference.
        seconds: u64,
        /// Whether the time of the signature is in the past.
        is_past: bool,
        /// The allowed difference.
        tolerance: u64,
    },
    /// No signature fits a secret.
    #[error("No signature fits a secret.")]
    Mismatch,
}

fn side(is_past: bool) -> &'static str {
    if is_past { "before" } else { "after" }
}
