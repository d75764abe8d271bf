//! DNS rebinding (A16): a page of another site can make its name point to 127.0.0.1 and then talk to this server as its
//! own origin. So only names that mean this machine are answered.

use crate::error::HttpError;
use axum::extract::Request;
use axum::http::{StatusCode, Uri, header::HOST};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use wire::{ErrorCode, UserError};

/// Answers 421 unless the request names this machine.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    let host = request.headers().get_all(HOST).iter().map(|host| host.to_str().ok()).collect::<Vec<_>>();
    let named = match (request.uri().authority(), host.as_slice()) {
        // Two names would leave the choice to whoever reads them (B1).
        (_, [_, _, ..]) => None,
        (Some(authority), _) => Some(authority.as_str().to_owned()),
        (None, [host]) => host.map(str::to_owned),
        (None, []) => None,
    };
    match named {
        Some(name) if is_this_machine(&name) => next.run(request).await,
        _ => {
            let message = "This server answers only to the name of this machine, for example http://127.0.0.1.";
            let error = HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response();
            (StatusCode::MISDIRECTED_REQUEST, error).into_response()
        }
    }
}

/// `localhost` or a loopback address, with any port.
fn is_this_machine(authority: &str) -> bool {
    let Ok(uri) = authority.parse::<Uri>() else { return false };
    let Some(host) = uri.host() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_this_machine;

    #[test]
    fn names_of_this_machine() {
        let check = |name: &str, expected: bool| assert_eq!(is_this_machine(name), expected, "{name}");
        check("127.0.0.1:3000", true);
        check("127.0.0.9", true);
        check("localhost:3000", true);
        check("LOCALHOST", true);
        check("[::1]:3000", true);
        check("evil.test", false);
        check("127.0.0.1.evil.test", false);
        check("localhost.evil.test:3000", false);
        check("10.0.0.1", false);
        check("[::2]", false);
        check("", false);
    }
}
