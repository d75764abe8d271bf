//! CSRF (D9, A15): a change is refused when the browser says that it comes from another site. Server functions check
//! nothing of the kind by themselves.

use crate::error::HttpError;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, Uri, header::HOST, header::ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use wire::{ErrorCode, UserError};

/// Answers 403 to a change that another site's page sends.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    if is_read(request.method()) || is_own(request.headers()) {
        return next.run(request).await;
    }
    let message = "This change came from another site and was refused.";
    HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response()
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// `Sec-Fetch-Site` decides where a browser sends it, `Origin` otherwise; a request with neither is not a browser's page.
fn is_own(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    match (origin.as_ref().and_then(Uri::authority), host) {
        (Some(origin), Some(host)) => origin.as_str().eq_ignore_ascii_case(host),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_from_elsewhere() {
        let check = |headers: &[(&'static str, &'static str)], expected: bool| {
            let map = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(is_own(&map), expected, "{headers:?}");
        };
        check(&[], true);
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "none")], true);
        check(&[("sec-fetch-site", "cross-site"), ("host", "h"), ("origin", "http://h")], false);
        check(&[("sec-fetch-site", "same-site")], false);
        check(&[("host", "127.0.0.1:3000"), ("origin", "http://127.0.0.1:3000")], true);
        check(&[("host", "127.0.0.1:3000"), ("origin", "http://127.0.0.1:3001")], false);
        check(&[("host", "127.0.0.1:3000"), ("origin", "null")], false);
        check(&[("host", "127.0.0.1:3000"), ("origin", "https://evil.test")], false);
    }
}
