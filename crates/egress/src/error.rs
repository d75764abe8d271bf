//! Why a request has no answer.

use std::time::Duration;
use thiserror::Error;

/// Why a request has no answer. The texts are for whoever made the request; they hold no address and no header. The cause is in
/// the log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EgressError {
    /// The address is no `http://` or `https://` address with a host.
    #[error("this is not a web address")]
    NoWebAddress,
    /// The host is, or resolves to, an address that is not public.
    #[error("the address is not public, and the connection does not allow private addresses")]
    NotPublic,
    /// It answered with a redirect to another origin, or with too many.
    #[error("the server redirects elsewhere, which is not followed")]
    Redirected,
    /// No connection, or it broke.
    #[error("the server cannot be reached")]
    Unreachable,
    /// It took too long.
    #[error("the server did not answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The body is too large.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
}
