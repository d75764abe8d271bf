//! Cookies of the server. Scripts cannot read them, other sites' requests do not carry them, and
//! over `https` sibling domains cannot set them.

use axum::http::HeaderValue;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};

/// Returns the name of a cookie. Browsers accept the prefix `__Host-` only for `Secure` cookies of
/// this exact host.
pub fn name(base: &str, is_https: bool) -> String {
    if is_https { format!("__Host-{base}") } else { base.to_owned() }
}

/// Returns a `Set-Cookie` header with this lifetime; zero seconds delete the cookie.
pub fn set(base: &str, value: &str, seconds: i64, is_https: bool) -> Option<HeaderValue> {
    let cookie = Cookie::build((name(base, is_https), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_https)
        .max_age(Duration::seconds(seconds));
    HeaderValue::from_str(&cookie.to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_restricted_to_this_host() {
        let check = |is_https: bool, expected: &str| assert_eq!(set("c", "v", 60, is_https).unwrap(), expected);
        check(true, "__Host-c=v; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=60");
        check(false, "c=v; HttpOnly; SameSite=Lax; Path=/; Max-Age=60");
    }
}
