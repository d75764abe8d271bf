//! Refuses requests that say twice what decides about them: which of two values counts would depend on who reads
//! them, this server or a proxy in front of it.

use super::visitors;
use crate::error::HttpError;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The header of a key. It comes last of the headers that are looked at.
const KEY: &str = "x-api-key";
/// Routes whose contract has a form of its own for a wrong key, which they answer themselves.
const CONTRACT: &str = "/remote-agent/";

/// Headers of which a request has one at most. `Cookie` and `X-Forwarded-For` may be repeated, and are read as a
/// whole; the headers of a signing-in proxy have names of the config's choice, and are checked where they are read.
const SINGLE: [&str; 8] =
    ["host", "origin", "authorization", "content-type", "content-length", "sec-fetch-site", visitors::HEADER, KEY];

/// Answers 400 to a request that repeats such a header.
pub(crate) async fn refuse_repeated(request: Request, next: Next) -> Response {
    let is_contract = request.uri().path().starts_with(CONTRACT);
    match repeated(request.headers()) {
        Some(name) if !(is_contract && name == KEY) => {
            HttpError::malformed(format!("The header `{name}` is there twice. Send it once.")).into_response()
        }
        _ => next.run(request).await,
    }
}

fn repeated(headers: &HeaderMap) -> Option<&'static str> {
    SINGLE.into_iter().find(|name| headers.get_all(*name).iter().nth(1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_is_said_once() {
        let check = |headers: &[(&'static str, &'static str)], expected: Option<&str>| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            assert_eq!(repeated(&map), expected, "{headers:?}");
        };
        check(&[("host", "h"), ("origin", "http://h"), ("content-type", "text/plain")], None);
        check(&[("cookie", "a=1"), ("cookie", "b=2"), ("x-forwarded-for", "::1"), ("x-forwarded-for", "::1")], None);
        for name in SINGLE {
            check(&[(name, "own"), (name, "evil")], Some(name));
            check(&[(name, "same"), (name, "same")], Some(name));
        }
    }
}
