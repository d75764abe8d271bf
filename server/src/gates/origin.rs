//! Protection from cross-site request forgery: a request that changes something is refused if the
//! browser says that it comes from another site. Server functions have no such check of their own.

use auth::{Authority, requested_host};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, header::ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use web::HttpError;
use wire::{ErrorCode, UserError};

/// Middleware that answers 403 to a change from another site's page.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    if is_safe_method(request.method()) || is_same_origin(request.headers(), requested_host(&request).as_ref()) {
        return next.run(request).await;
    }
    let message = "This change came from another site and was refused.";
    HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response()
}

fn is_safe_method(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns whether a request is not cross-site. `Sec-Fetch-Site` decides if the browser sends it,
/// else `Origin`; a request with neither does not come from a page. If a header is repeated, every
/// value must be allowed.
fn is_same_origin(headers: &HeaderMap, host: Option<&Authority>) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter().peekable();
    if sites.peek().is_some() {
        return sites.all(|site| site == "same-origin" || site == "none");
    }
    headers.get_all(ORIGIN).iter().all(|origin| {
        let origin = origin.to_str().ok().and_then(authority_of);
        origin.zip(host).is_some_and(|(origin, host)| origin.is_same(host))
    })
}

/// Returns the authority of an origin, which has nothing but a scheme, a host and an optional port.
fn authority_of(origin: &str) -> Option<Authority> {
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"))?;
    Authority::parse(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cross_site_changes_are_rejected() {
        let check = |headers: &[(&'static str, &'static str)], expected: bool| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let host = map.get("host").and_then(|host| Authority::parse(host.to_str().unwrap()));
            assert_eq!(is_same_origin(&map, host.as_ref()), expected, "{headers:?}");
        };
        check(&[], true);
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "none")], true);
        check(&[("sec-fetch-site", "cross-site"), ("host", "h"), ("origin", "http://h")], false);
        check(&[("sec-fetch-site", "same-site")], false);
        check(&[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false);
        check(&[("host", "127.0.0.1:3000"), ("origin", "http://127.0.0.1:3000")], true);
        check(&[("host", "127.0.0.1:3000"), ("origin", "http://127.0.0.1:3001")], false);
        check(&[("host", "127.0.0.1:3000"), ("origin", "null")], false);
        check(&[("host", "127.0.0.1:3000"), ("origin", "https://evil.test")], false);
        check(&[("host", "h"), ("origin", "http://h"), ("origin", "https://evil.test")], false);
        check(&[("host", "h"), ("origin", "http://h, https://evil.test")], false);
        check(&[("host", "h"), ("origin", "http://h/path")], false);
        // White space around a value is not part of it: the parser of HTTP/1 has removed it before. The rest is
        // compared as it is.
        check(&[("host", "h"), ("origin", "http://h ")], false);
        check(&[("host", "h"), ("origin", "http://h\t")], false);
        check(&[("host", "h"), ("origin", " http://h")], false);
        check(&[("sec-fetch-site", "same-origin "), ("host", "h"), ("origin", "http://h")], false);
        check(&[("host", "h"), ("origin", "http://user@h")], false);
        check(&[("host", "h"), ("origin", "file://h")], false);
        check(&[("host", "[::1]evil"), ("origin", "http://[::1]evil")], false);
    }
}
