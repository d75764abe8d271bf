//! Reads which credentials a service demands when it refuses a request.

use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

/// Returns the challenges of all `WWW-Authenticate` headers as one list: a service may send one header for each scheme
/// (RFC 9110, 11.6.1). Values that are not text are left out.
pub fn challenges(headers: &HeaderMap) -> String {
    let values = headers.get_all(WWW_AUTHENTICATE).iter().map(HeaderValue::to_str);
    values.filter_map(Result::ok).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_of_all_headers_are_read() {
        let check = |values: &[&'static [u8]], expected: &str| {
            let mut headers = HeaderMap::new();
            for &value in values {
                headers.append(WWW_AUTHENTICATE, HeaderValue::from_bytes(value).unwrap());
            }
            assert_eq!(challenges(&headers), expected, "{values:?}");
        };
        check(&[], "");
        check(&[b"Bearer scope=\"a\""], "Bearer scope=\"a\"");
        check(&[b"Negotiate", b"Bearer scope=\"a\""], "Negotiate, Bearer scope=\"a\"");
        check(&[b"Basic realm=\"\xff\"", b"Bearer"], "Bearer");
    }
}
