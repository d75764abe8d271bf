//! Builds URLs below a base URL from untrusted values, so that neither a path nor a value can
//! escape the base.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use thiserror::Error;
use url::Url;

mod decode;

use decode::{decode_leniently, is_dot_segment};

/// All characters except the unreserved ones of RFC 3986, 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// How often a path is decoded to find dot segments: a proxy may decode once, and the server behind
/// it once more.
const MAX_DECODINGS: usize = 3;
/// The characters that separate segments, with those that some servers convert to one of them.
const SEPARATORS: [char; 7] = ['/', '\\', '\u{FF0F}', '\u{FF3C}', '\u{2044}', '\u{2215}', '\u{2216}'];

/// An error in a path. The messages contain neither the URL nor the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// A segment of the path is `.` or `..`, literally or after decoding.
    #[error("the path escapes the connection's base URL")]
    EscapesBase,
    /// The path contains a character that would end the path, or a control character.
    #[error("the path contains an invalid character; parameters belong in `query`")]
    InvalidCharacter,
    /// A value of the path is empty, which would change the path.
    #[error("a value of the path is empty")]
    Empty,
}

/// Encodes a value as one path segment, so that it can neither add segments nor be a dot segment.
///
/// # Errors
/// [`PathError::Empty`], and [`PathError::EscapesBase`] for a value that is `.` or `..`, also after
/// decoding it up to three times.
pub fn encode_segment(value: &str) -> Result<String, PathError> {
    if value.is_empty() {
        return Err(PathError::Empty);
    }
    let segment = utf8_percent_encode(value, RESERVED).to_string();
    // Also as it is sent: `join_below` would refuse the path of a value that is encoded too often.
    if has_dot_segment(value) || has_dot_segment(&segment) {
        return Err(PathError::EscapesBase);
    }
    Ok(segment)
}

/// Returns the URL of a path below a base URL.
///
/// # Errors
/// [`PathError::InvalidCharacter`] and [`PathError::EscapesBase`].
pub fn join_below(base: &Url, path: &str) -> Result<Url, PathError> {
    if path.contains(['?', '#', '\\']) || path.chars().any(char::is_control) {
        return Err(PathError::InvalidCharacter);
    }
    if has_dot_segment(path) {
        return Err(PathError::EscapesBase);
    }
    let mut url = base.clone();
    if path.is_empty() {
        return Ok(url);
    }
    let folder = format!("{}/", base.path().trim_end_matches('/'));
    url.set_path(&format!("{folder}{}", path.trim_start_matches('/')));
    if url.path().starts_with(&folder) { Ok(url) } else { Err(PathError::EscapesBase) }
}

/// Returns whether a server could find a dot segment in a path.
fn has_dot_segment(path: &str) -> bool {
    let mut path = path.to_owned();
    for _ in 0..=MAX_DECODINGS {
        if path.split(SEPARATORS).any(is_dot_segment) {
            return true;
        }
        let decoded = decode_leniently(&path);
        if decoded == path {
            return false;
        }
        path = decoded;
    }
    // Encoded more often than is plausible.
    decode_leniently(&path) != path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_one_path_segment() {
        let check = |value: &str, expected: Result<&str, PathError>| {
            assert_eq!(encode_segment(value), expected.map(str::to_owned), "{value:?}");
            if let Ok(step) = encode_segment(value) {
                let base = Url::parse("https://api.example.com/v1/users/").unwrap();
                let url = join_below(&base, &step).unwrap();
                assert_eq!(url.path(), format!("/v1/users/{step}"), "{value:?}");
                assert_eq!(url.path_segments().unwrap().count(), 3, "{value:?}");
            }
        };
        check("7", Ok("7"));
        check("Ada.Lovelace-1_2~3", Ok("Ada.Lovelace-1_2~3"));
        check("a b", Ok("a%20b"));
        check("a/b", Ok("a%2Fb"));
        check("a\\b", Ok("a%5Cb"));
        check("a%2Fb", Ok("a%252Fb"));
        check("a?b=c&d#e", Ok("a%3Fb%3Dc%26d%23e"));
        check("a;b=c", Ok("a%3Bb%3Dc"));
        check("a\r\nb\0", Ok("a%0D%0Ab%00"));
        check("ä€", Ok("%C3%A4%E2%82%AC"));
        check("100%", Ok("100%25"));
        check("@evil.com:80", Ok("%40evil.com%3A80"));
        check("//evil.com", Ok("%2F%2Fevil.com"));
        check("...", Ok("..."));
        check(".hidden", Ok(".hidden"));
        check("a..b", Ok("a..b"));
        check("20%de 50%", Ok("20%25de%2050%25"));
        check("%c0%af", Ok("%25c0%25af"));
        check("%C0%2e", Ok("%25C0%252e"));
        check("%uD800", Ok("%25uD800"));
        check("wait … ‥.", Ok("wait%20%E2%80%A6%20%E2%80%A5."));
        check("", Err(PathError::Empty));
        for up in [
            ".",
            "..",
            "../x",
            "x/..",
            "x/../y",
            "..\\x",
            "x\\..",
            "/..",
            "/.",
            "%2e",
            "%2E%2e",
            ".%2e",
            "%252e%252e",
            "%25252e.",
            "..%2F",
            "..%2f..%2fx",
            "..%5Cx",
            "..%252fx",
            "x%2f..",
            "..;",
            "..;a=b",
            "..;/x",
            "..%3Bx",
            " ..",
            ".. ",
            "..%20",
            ".. /x",
            "%252525252e",
            "a%2525253b",
            "%c0%ae%c0%ae/x",
            "%e0%80%ae.",
            "%f0%80%80%ae%2e",
            "%u002e%U002E/x",
            "%25u002e.",
            "..\0",
            "..\0x",
            ".\0.",
            "\0..",
            "..%00/x",
            ".%00./x",
            "%01../x",
            "..?x",
            "..%3fx",
            "..#x",
            "..%23/x",
            "．．/x",
            "x／..",
            "․․",
            "‥",
            "%EF%BC%8E%EF%BC%8E",
            "%uff0e%uff0e",
        ] {
            check(up, Err(PathError::EscapesBase));
        }
    }

    #[test]
    fn path_stays_below_its_base() {
        let check = |base: &str, path: &str, expected: Result<&str, PathError>| {
            let found = join_below(&Url::parse(base).unwrap(), path).map(|url| url.to_string());
            assert_eq!(found, expected.map(str::to_owned), "{path:?}");
        };
        let v1 = "https://api.example.com/v1/";
        check(v1, "", Ok("https://api.example.com/v1/"));
        check("https://api.example.com/v1", "", Ok("https://api.example.com/v1"));
        check("https://api.example.com/v1", "x", Ok("https://api.example.com/v1/x"));
        check("https://api.example.com", "x", Ok("https://api.example.com/x"));
        check("https://api.example.com/v1/?key=1", "x", Ok("https://api.example.com/v1/x?key=1"));
        check(v1, "/users/7", Ok("https://api.example.com/v1/users/7"));
        check(v1, "users//7/", Ok("https://api.example.com/v1/users//7/"));
        check(v1, "a b/ä", Ok("https://api.example.com/v1/a%20b/%C3%A4"));
        check(v1, "group%2Fproject", Ok("https://api.example.com/v1/group%2Fproject"));
        check(v1, "//evil.com/x", Ok("https://api.example.com/v1/evil.com/x"));
        check(v1, "@evil.com", Ok("https://api.example.com/v1/@evil.com"));
        check(v1, "https://evil.com", Ok("https://api.example.com/v1/https://evil.com"));
        check(v1, "caf%E9/%c3%a9", Ok("https://api.example.com/v1/caf%E9/%c3%a9"));
        check(v1, "a..b/.c/...", Ok("https://api.example.com/v1/a..b/.c/..."));
        for path in ["a?b=c", "a#b", "a\\b", "a\nb", "a\tb", "..\\x"] {
            check(v1, path, Err(PathError::InvalidCharacter));
        }
        for path in [
            "..",
            "../v2",
            "a/..",
            "a/../../v2",
            "/../v2",
            "./../v2",
            "%2e%2E/v2",
            "a/%2e%2e/%2e%2e",
            ".%2E/v2",
            "..%2Fv2",
            "..%2fv2",
            "a%2F..%2F..%2Fv2",
            "..%5Cv2",
            "a%5c..%5cv2",
            "%2e%2e%2fv2",
            "..%252Fv2",
            "%252e%252e/v2",
            "%25252e%25252e/v2",
            "..;/v2",
            "a/..;x=y/v2",
            "..%3B/v2",
            "..%20/v2",
            " ../v2",
            ".",
            "a/./b",
            "a/%2e/b",
            "%252525252e",
            "%c0%ae%c0%ae/v2",
            "a/%e0%80%ae%e0%80%ae/v2",
            "..%c0%af",
            "..%c1%9cv2",
            "%f8%80%80%80%ae./v2",
            "%c1%2f../v2",
            "%u002e%u002e/v2",
            "..%u2215v2",
            "..%00/v2",
            "..%00",
            ".%00./v2",
            "%00../v2",
            "..%3fx",
            "..%3Fx/v2",
            "..%23/v2",
            "..%253f/v2",
            "．．/v2",
            "%ef%bc%8e%ef%bc%8e/v2",
            "..／v2",
            "‥/v2",
        ] {
            check(v1, path, Err(PathError::EscapesBase));
        }
    }
}
