//! Errors of requests.

use std::time::Duration;
use thiserror::Error;

/// An error of a request. The messages are for the author of the request and contain neither a URL
/// nor headers. The cause is logged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EgressError {
    /// The URL is not an `http://` or `https://` URL with a host.
    #[error("this is not a web address")]
    InvalidUrl,
    /// The host is, or resolves to, an address that is not public.
    #[error("the address is not public, and the connection does not allow private addresses")]
    NotPublic,
    /// The server redirected to another origin, or too often.
    #[error("the server redirects to another origin or too often, which is not followed")]
    Redirected,
    /// The connection failed or broke.
    #[error("the server cannot be reached")]
    Unreachable,
    /// The request timed out.
    #[error("the server did not answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The response body is too large.
    #[error("the response is larger than {0} bytes")]
    TooLarge(usize),
}
