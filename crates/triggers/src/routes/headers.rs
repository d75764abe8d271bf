//! The headers of a request that `_event` reads.

use axum::http::HeaderMap;
use serde_json::{Map, Value};

/// The most headers.
const MAX_HEADERS: usize = 64;
/// The longest header.
const MAX_LENGTH: usize = 1024;

/// Headers with which someone could do something.
const SECRET: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "webhook-signature",
    "x-hub-signature-256",
    "stripe-signature",
];

/// Returns the headers by name, without secrets and without those that are long or repeated.
pub(super) fn readable(headers: &HeaderMap) -> Value {
    let names = headers.keys().filter(|name| !SECRET.contains(&name.as_str()));
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
}
