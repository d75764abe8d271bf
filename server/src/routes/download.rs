//! Files that users download: their names.

use super::times::iso_day;
use axum::http::HeaderValue;

/// Characters of a title in a file's name.
const MAX_TITLE: usize = 80;

/// The value of `Content-Disposition` for a conversation: its day and its title are the name.
pub(super) fn disposition(title: &str, created_at: i64, extension: &str) -> HeaderValue {
    let name = format!("{} {}.{extension}", iso_day(created_at), safe(title));
    HeaderValue::from_str(&named("attachment", &name)).unwrap_or(HeaderValue::from_static("attachment"))
}

/// The value of `Content-Disposition` with a name, in ASCII and as it is (RFC 6266, RFC 8187).
pub(super) fn named(how: &str, name: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || " .-_()".contains(char) { char } else { '_' };
    let ascii: String = name.chars().map(plain).collect();
    let exact: String = name.bytes().map(encoded).collect();
    format!("{how}; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

fn encoded(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

/// A title as part of a file's name on every system: without path separators, characters that a system reserves, and
/// what cannot be seen.
fn safe(title: &str) -> String {
    let plain = |sign: char| match sign {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%' | '`' | '$' => ' ',
        sign if sign.is_alphanumeric() || sign.is_ascii_graphic() => sign,
        _ => ' ',
    };
    let plain: String = title.chars().take(MAX_TITLE * 4).map(plain).collect();
    let words: String = plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect();
    let words = words.trim_matches(['.', ' ', '-', '~']);
    if words.is_empty() { "Conversation".to_owned() } else { words.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe() {
        let check = |title: &str, expected: &str| assert_eq!(safe(title), expected, "{title:?}");
        check("Refund for order 42", "Refund for order 42");
        check("../../etc/passwd", "etc passwd");
        check("C:\\x | y?.exe", "C x y .exe");
        check("a\"; filename=\"evil.sh", "a ; filename= evil.sh");
        check("line\r\nbreak\u{202e}fdp", "line break fdp");
        check("Zoë: 東京", "Zoë 東京");
        check("...", "Conversation");
        check("", "Conversation");
        check(&"x".repeat(500), &"x".repeat(MAX_TITLE));
    }

    #[test]
    fn names_stand_in_ascii_and_as_they_are() {
        let day = 1_795_392_000_000;
        assert_eq!(
            disposition("Zoë's refund", day, "md"),
            "attachment; filename=\"2026-11-23 Zo__s refund.md\"; filename*=UTF-8''2026-11-23%20Zo%C3%AB%27s%20refund.md"
        );
    }
}
