//! Decodes text of an unknown encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// The number of bytes by which text is told from other content.
const SAMPLE: usize = 4_096;
/// The number of bytes by which the encoding is guessed.
const GUESSED_BYTES: usize = 256 * 1024;

/// Decoded text.
pub(crate) struct Decoded {
    /// The text with `\n` as line breaks, without a byte order mark and control characters.
    pub(crate) text: String,
    /// Whether bytes were replaced that are invalid in the encoding.
    pub(crate) is_lossy: bool,
}

/// Returns whether the bytes look like text of any encoding.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if Encoding::for_bom(sample).is_some() || utf_16(sample).is_some() {
        return true;
    }
    let odd = sample.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31)).count();
    !sample.contains(&0) && odd * 50 <= sample.len()
}

/// Recognises UTF-16 without a byte order mark: in most languages one half of the bytes is zero
/// where the other is not.
fn utf_16(sample: &[u8]) -> Option<&'static Encoding> {
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), sample.len() / 2);
    match half {
        0..4 => None,
        _ if odd * 10 >= half * 4 && even * 20 <= half => Some(UTF_16LE),
        _ if even * 10 >= half * 4 && odd * 20 <= half => Some(UTF_16BE),
        _ => None,
    }
}

/// Decodes text. `declared` is the encoding that the file or its transport states; a byte order mark
/// takes precedence, and so does UTF-8 if the bytes are valid as such.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Decoded {
    let (encoding, skipped) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, length),
        None => (guess(bytes, declared), 0),
    };
    let (text, is_lossy) = encoding.decode_without_bom_handling(&bytes[skipped..]);
    Decoded { text: normalize(text), is_lossy }
}

fn guess(bytes: &[u8], declared: Option<&str>) -> &'static Encoding {
    if let Some(encoding) = utf_16(&bytes[..bytes.len().min(SAMPLE)]) {
        return encoding;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    if let Some(encoding) = declared.and_then(|label| Encoding::for_label(label.as_bytes())) {
        return encoding;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESSED_BYTES)], bytes.len() <= GUESSED_BYTES);
    detector.guess(None, Utf8Detection::Allow)
}

/// Replaces all kinds of line breaks with `\n` and removes control characters, which no reader sees
/// and PostgreSQL refuses in part.
pub(crate) fn normalize(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' => {
                chars.next_if_eq(&'\n');
                clean.push('\n');
            }
            '\n' | '\t' => clean.push(char),
            '\u{feff}' => {}
            _ if char.is_control() => {}
            _ => clean.push(char),
        }
    }
    clean
}

/// Returns the text on one line with single spaces.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let is_clean = !text.contains(|char: char| char.is_whitespace() && char != ' ' || char.is_control())
        && !text.contains("  ")
        && text.trim().len() == text.len();
    if is_clean {
        return Cow::Borrowed(text);
    }
    let visible = text.replace(|char: char| char.is_control() && !char.is_whitespace(), "");
    Cow::Owned(visible.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_encoding_is_decoded() {
        let check = |bytes: &[u8], declared: Option<&str>, expected: &str| {
            assert!(is_text(bytes), "{expected}");
            assert_eq!(decode(bytes, declared).text, expected);
        };
        check(b"caf\xc3\xa9\r\nA\rB", None, "café\nA\nB");
        check(b"\xef\xbb\xbfcaf\xc3\xa9", Some("windows-1252"), "café");
        check(b"caf\xe9 cr\xe8me, \x93na\xefve\x94 d\xe9j\xe0 vu", None, "café crème, “naïve” déjà vu");
        check(b"\xe1\xe2", Some("iso-8859-8"), "בג");
        check(b"\xff\xfeA\0\xe9\0", None, "Aé");
        check(b"H\0e\0l\0l\0o\0 \0y\0o\0u\0", None, "Hello you");
        check(b"\0H\0e\0l\0l\0o\0 \0y\0o\0u", None, "Hello you");
        check(
            "\u{7}bell and\u{1b} others, long enough to pass for text, since they are few in number".as_bytes(),
            None,
            "bell and others, long enough to pass for text, since they are few in number",
        );
        let russian = "Съешь же ещё этих мягких французских булок, да выпей чаю";
        check(&encoding_rs::WINDOWS_1251.encode(russian).0, None, russian);
        let japanese = "いろはにほへと ちりぬるを わかよたれそ つねならむ";
        check(&encoding_rs::SHIFT_JIS.encode(japanese).0, None, japanese);
    }

    #[test]
    fn binary_content_is_not_text() {
        assert!(!is_text(b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff"));
        assert!(!is_text(&[7, 1, 2, 3, 200, 4, 5, 6]));
    }
}
