//! The headers of a request that `_event` reads.

use axum::http::HeaderMap;
use serde_json::{Map, Value};

/// The most headers.
const MAX_HEADERS: usize = 64;
/// The longest header.
const MAX_LENGTH: usize = 1024;

/// The words of names of headers with which someone could do something: a key, a token, or the signature of a body. Senders
/// and proxies have names of their own, such as `x-gitlab-token`, and GitHub signs each body twice.
const SECRET_WORDS: [&str; 13] = [
    "accesstoken",
    "apikey",
    "assertion",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "hmac",
    "jwt",
    "password",
    "secret",
    "signature",
    "token",
];
/// The ends of such names, whose single words stand in names of other headers as well.
const SECRET_ENDS: [&str; 5] = ["access-key", "api-key", "auth-key", "oidc-data", "private-key"];

/// Returns whether a header may have a secret.
fn is_secret(name: &str) -> bool {
    name.split(['-', '_']).any(|word| SECRET_WORDS.contains(&word)) || SECRET_ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns the headers by name, without secrets and without those that are long or repeated.
pub(super) fn readable(headers: &HeaderMap) -> Value {
    let names = headers.keys().filter(|name| !is_secret(name.as_str()));
    let readable = names.filter_map(|name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?.to_str().ok().filter(|value| value.len() <= MAX_LENGTH)?;
        values.next().is_none().then(|| (name.as_str().to_owned(), Value::from(value)))
    });
    readable.take(MAX_HEADERS).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_and_repeated_headers_are_left_out() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-github-event", "push"),
            ("authorization", "Bearer key"),
            ("x-hub-signature-256", "sha256=00"),
            ("x-twice", "1"),
            ("x-twice", "2"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        headers.append("x-long", "x".repeat(MAX_LENGTH + 1).parse().unwrap());
        assert_eq!(readable(&headers), json!({ "x-github-event": "push" }));
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        let check = |names: &[&str], expected: bool| {
            for name in names {
                assert_eq!(is_secret(name), expected, "{name}");
            }
        };
        check(&["authorization", "proxy-authorization", "cookie", "x-api-key", "webhook-signature"], true);
        check(&["x-hub-signature", "x-hub-signature-256", "stripe-signature", "x-shopify-hmac-sha256"], true);
        check(&["x-gitlab-token", "x-forwarded-access-token", "x-auth-key", "x_secret", "x-amzn-oidc-data"], true);
        check(&["x-github-event", "webhook-id", "webhook-timestamp", "idempotency-key", "x-sender"], false);
        check(&["x-tokens-left", "content-type", "x-author"], false);
    }
}
