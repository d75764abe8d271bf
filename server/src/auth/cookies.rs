//! Cookies that the server sets (A36): no script reads them, no other site sends them along, and over `https` no sibling domain can set
//! them.

use axum::http::HeaderValue;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};

/// The name of a cookie; `__Host-` makes browsers refuse it unless it is `Secure` and this very host's.
pub(super) fn name(base: &str, is_https: bool) -> String {
    if is_https { format!("__Host-{base}") } else { base.to_owned() }
}

/// A cookie that lives for some seconds; for none, it is deleted.
pub(super) fn set(base: &str, value: &str, seconds: i64, is_https: bool) -> Option<HeaderValue> {
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
    fn cookies_are_for_this_host_alone() {
        let check = |is_https: bool, expected: &str| assert_eq!(set("c", "v", 60, is_https).unwrap(), expected);
        check(true, "__Host-c=v; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=60");
        check(false, "c=v; HttpOnly; SameSite=Lax; Path=/; Max-Age=60");
    }
}
