//! Downloads and their file names.

use crate::times::iso_day;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The maximum length of a title in a file name, in characters.
const MAX_TITLE: usize = 80;

/// Returns a file that a browser saves under this name and does not cache.
pub fn download(content_type: &str, name: &str, content: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, content_disposition("attachment", name)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, content).into_response()
}

/// Returns the name of a file with a conversation: its day and title.
pub fn conversation_file_name(title: &str, created_at: i64, extension: &str) -> String {
    format!("{} {}.{extension}", iso_day(created_at), safe_file_name(title))
}

/// Returns a `Content-Disposition` with a file name, in ASCII and in full (RFC 6266, RFC 8187).
pub fn content_disposition(how: &str, name: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || " .-_()".contains(char) { char } else { '_' };
    let ascii: String = name.chars().map(plain).collect();
    let exact: String = name.bytes().map(percent_encoded).collect();
    format!("{how}; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

fn percent_encoded(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

/// Makes a title safe as part of a file name on every system: without path separators, reserved
/// characters and invisible characters.
pub fn safe_file_name(title: &str) -> String {
    let plain = |sign: char| match sign {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%' | '`' | '$' => ' ',
        sign if sign.is_alphanumeric() || sign.is_ascii_graphic() => sign,
        _ => ' ',
    };
    let plain: String = title.chars().take(MAX_TITLE * 4).map(plain).collect();
    let words: String = plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect();
    let words = words.trim_matches(['.', ' ', '-', '~']);
    match words {
        "" => "Conversation".to_owned(),
        device if is_device(device) => format!("_{device}"),
        words => words.to_owned(),
    }
}

/// Returns whether Windows takes a name for that of a device, also with an extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_port = |kind: &str| {
        let number = stem.strip_prefix(kind).unwrap_or_default();
        number.chars().count() == 1 && number.chars().all(|sign| sign.is_ascii_digit() || "¹²³".contains(sign))
    };
    ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()) || is_port("COM") || is_port("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe() {
        let check = |title: &str, expected: &str| assert_eq!(safe_file_name(title), expected, "{title:?}");
        check("Refund for order 42", "Refund for order 42");
        check("../../etc/passwd", "etc passwd");
        check("C:\\x | y?.exe", "C x y .exe");
        check("a\"; filename=\"evil.sh", "a ; filename= evil.sh");
        check("line\r\nbreak\u{202e}fdp", "line break fdp");
        check("Zoë: 東京", "Zoë 東京");
        check("...", "Conversation");
        check("", "Conversation");
        check("nul", "_nul");
        check("Con.2026", "_Con.2026");
        check("LPT1", "_LPT1");
        check("COM²", "_COM²");
        check("Console, COM10", "Console, COM10");
        check("COM port", "COM port");
        check(&"x".repeat(500), &"x".repeat(MAX_TITLE));
    }

    #[test]
    fn file_names_are_sent_in_ascii_and_utf_8() {
        let day = 1_795_392_000_000;
        assert_eq!(
            content_disposition("attachment", &conversation_file_name("Zoë's refund", day, "md")),
            "attachment; filename=\"2026-11-23 Zo__s refund.md\"; filename*=UTF-8''2026-11-23%20Zo%C3%AB%27s%20refund.md"
        );
    }
}
