//! How errors are written for clients of another service's API.

use axum::response::Response;
use wire::UserError;

/// The paths of another service's API, whose clients expect errors in its form: also those of the server's
/// gates, such as a wrong key or a rate limit.
#[derive(Clone, Copy, Debug)]
pub struct ApiFormat {
    /// What the paths begin with, for example `/v1/`.
    pub prefix: &'static str,
    /// Writes an error.
    pub error: fn(UserError) -> Response,
}
