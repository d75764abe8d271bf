//! Rejects requests that repeat a header which decides about them: a proxy and this server could
//! read different values.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use web::HttpError;

/// The header of an API key. It is the last of the checked headers.
const KEY_HEADER: &str = "x-api-key";
/// Routes with an error format of their own for a wrong key, which they return themselves.
const REMOTE_AGENT_PATH: &str = "/remote-agent/";

/// Headers that a request may have only once. `Cookie` and `X-Forwarded-For` may be repeated and
/// are read as a whole. The header names of a signing-in proxy are in the config; they are checked
/// where they are read.
const SINGLE_HEADERS: [&str; 8] = [
    "host",
    "origin",
    "authorization",
    "content-type",
    "content-length",
    "sec-fetch-site",
    auth::VISITOR_HEADER,
    KEY_HEADER,
];

/// Middleware that answers 400 to a request that repeats one of these headers.
pub(crate) async fn reject_repeated_headers(request: Request, next: Next) -> Response {
    let is_contract = request.uri().path().starts_with(REMOTE_AGENT_PATH);
    match repeated_header(request.headers()) {
        Some(name) if !(is_contract && name == KEY_HEADER) => {
            HttpError::malformed(format!("The header `{name}` occurs more than once. Send it once.")).into_response()
        }
        _ => next.run(request).await,
    }
}

fn repeated_header(headers: &HeaderMap) -> Option<&'static str> {
    SINGLE_HEADERS.into_iter().find(|name| headers.get_all(*name).iter().nth(1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_headers_are_rejected() {
        let check = |headers: &[(&'static str, &'static str)], expected: Option<&str>| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            assert_eq!(repeated_header(&map), expected, "{headers:?}");
        };
        check(&[("host", "h"), ("origin", "http://h"), ("content-type", "text/plain")], None);
        check(&[("cookie", "a=1"), ("cookie", "b=2"), ("x-forwarded-for", "::1"), ("x-forwarded-for", "::1")], None);
        for name in SINGLE_HEADERS {
            check(&[(name, "own"), (name, "evil")], Some(name));
            check(&[(name, "same"), (name, "same")], Some(name));
        }
    }
}
