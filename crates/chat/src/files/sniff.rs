//! Detects the type of a file by its content, since the name is only the sender's claim.

/// The number of leading bytes that are examined.
pub(crate) const HEAD: usize = 8 * 1024;

/// The type of unknown content.
const UNKNOWN: &str = "application/octet-stream";

/// The text types that a name may distinguish. A page never renders any of them as its type.
const TEXTS: [(&str, &str); 14] = [
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("json", "application/json"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("xml", "text/xml"),
    ("svg", "image/svg+xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("sql", "application/sql"),
];

/// The extension and the type of e-mail, which is text in encodings that models do not read.
const EMAIL: (&str, &str) = ("eml", "message/rfc822");

/// Returns the media type of a file that starts with these bytes. The name only distinguishes types
/// of text.
pub fn media_type(head: &[u8], name: &str) -> String {
    let head = &head[..head.len().min(HEAD)];
    // Markup counts as text, regardless of what it contains.
    if let Some(found) = infer::get(head).filter(|found| found.matcher_type() != infer::MatcherType::Text) {
        return found.mime_type().to_owned();
    }
    if !is_utf8(head) {
        return UNKNOWN.to_owned();
    }
    let extension = extension(name);
    let known = TEXTS.iter().chain([&EMAIL]).find(|(known, _)| *known == extension);
    known.map_or("text/plain", |(_, kind)| kind).to_owned()
}

/// Returns whether a model can read a file of the type as it is.
pub(crate) fn is_text(media_type: &str, name: &str) -> bool {
    let is_text = media_type.starts_with("text/") || TEXTS.iter().any(|(_, kind)| *kind == media_type);
    // Files that were stored before e-mail was recognised have the type of a text.
    is_text && extension(name) != EMAIL.0
}

fn extension(name: &str) -> String {
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// Returns whether the bytes are UTF-8 without control characters that texts do not contain. They
/// may end within a character.
fn is_utf8(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && !text.chars().any(|char| char.is_control() && !"\t\n\r\u{c}\u{1b}".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_detected_by_content() {
        let check = |head: &[u8], name: &str, expected: &str| assert_eq!(media_type(head, name), expected, "{name}");
        check(b"\x89PNG\r\n\x1a\n....", "report.pdf", "image/png");
        check(b"\xff\xd8\xff\xe0....", "x", "image/jpeg");
        check(b"RIFF\x10\0\0\0WEBPVP8 ", "x.exe", "image/webp");
        check(b"GIF89a....", "x", "image/gif");
        check(b"%PDF-1.7\n", "notes.txt", "application/pdf");
        check(b"PK\x03\x04\x14\0\0\0", "x.txt", "application/zip");
        // The first bytes decide about a polyglot file.
        check(b"GIF89a/*<script>alert(1)</script>*/", "x.html", "image/gif");
        check(b"<!DOCTYPE html><script>", "x.png", "text/plain");
        check(b"<!DOCTYPE html><script>", "x.html", "text/html");
        check(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "x.svg", "image/svg+xml");
        check(b"a,b\n1,2\n", "Table.CSV", "text/csv");
        check(b"Subject: Order\n\nHello", "Order.EML", "message/rfc822");
        check("caf\u{e9}".as_bytes(), "menu", "text/plain");
        check(&"\u{e9}".repeat(HEAD).as_bytes()[..HEAD - 1], "cut", "text/plain");
        check(b"a\0b", "x.txt", UNKNOWN);
        check(b"\xfe\xff\0a", "x.txt", UNKNOWN);
        assert!(!is_shown(b"<svg/>") && !is_shown(b"<html>"));
    }

    fn is_shown(head: &[u8]) -> bool {
        wire::file::is_shown_inline(&media_type(head, "x.png"))
    }
}
