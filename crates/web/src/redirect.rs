//! Redirects and headers of responses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The path of the sign-in page.
pub const SIGN_IN_PATH: &str = "/auth/sign-in";

/// Redirects to another page, optionally with a cookie.
pub fn see_other(to: &str, cookie: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/")));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    with_cookie(response, cookie)
}

/// Adds a cookie to a response, besides the cookies that it already sets.
pub fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Encodes a value for a query string.
pub fn query_encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

/// Adds `Retry-After` to a response with status 429.
pub fn with_retry_after(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}
