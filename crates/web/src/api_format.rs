//! How errors are written for clients of another service's API.

use axum::response::Response;
use wire::UserError;

/// The paths of another service's API, whose clients expect errors in its form: also those of the server's
/// gates, such as a wrong key or a rate limit.
#[derive(Clone, Copy, Debug)]
pub struct ApiFormat {
    /// The prefix of the paths, for example `/v1/`. Without a slash at the end, it is the only path.
    pub prefix: &'static str,
    /// Writes an error.
    pub error: fn(UserError) -> Response,
}

impl ApiFormat {
    /// Returns whether a path is one of these.
    pub fn covers(&self, path: &str) -> bool {
        path == self.prefix || (self.prefix.ends_with('/') && path.starts_with(self.prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

    #[test]
    fn prefix_without_a_slash_is_one_path() {
        let check = |prefix, path: &str, expected| {
            let format = ApiFormat { prefix, error: |error| crate::HttpError(error).into_response() };
            assert_eq!(format.covers(path), expected, "{prefix} {path}");
        };
        check("/v1/", "/v1/models", true);
        check("/v1/", "/v1/", true);
        check("/v1/", "/v1", false);
        check("/mcp", "/mcp", true);
        check("/mcp", "/mcp/x", false);
        check("/mcp", "/mcp-notes", false);
    }
}
