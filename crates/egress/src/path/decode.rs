//! Reads paths as the most lenient server or proxy could: with encodings that no standard allows
//! any more, and with characters that some convert to the ASCII ones. The result is only compared;
//! what is sent stays as it was written.

use percent_encoding::percent_decode_str;

/// Returns whether a segment is `.` or `..` for a server that ends it early or removes characters.
pub(super) fn is_dot_segment(segment: &str) -> bool {
    // Some servers treat what follows a semicolon as a parameter of the segment. What follows a `?`
    // or `#` is no part of the path once it is decoded, and strings of C end at a NUL.
    let ends = [';', '?', '#'];
    let whole = segment.split(ends).next().unwrap_or_default();
    let before_nul = whole.split('\0').next().unwrap_or_default();
    is_dots(before_nul) || is_dots(whole)
}

/// Returns whether a text is one or two dots, apart from white space and control characters.
fn is_dots(text: &str) -> bool {
    let visible = text.trim_matches(|sign: char| sign.is_whitespace() || sign.is_control());
    let mut dots = 0;
    for sign in visible.chars() {
        dots += match sign {
            // The full-width dot and the leaders of one and two dots.
            '.' | '\u{FF0E}' | '\u{2024}' => 1,
            '\u{2025}' => 2,
            sign if sign.is_control() => 0,
            _ => return false,
        };
    }
    matches!(dots, 1 | 2)
}

/// Decodes a text once: percent encoding, `%u002E` as some servers of Microsoft do, and overlong
/// forms of UTF-8 (`%C0%AE` for a dot).
pub(super) fn decode_leniently(text: &str) -> String {
    let text = decode_utf16(text);
    let bytes: Vec<u8> = percent_decode_str(&text).collect();
    let (mut shortened, mut rest) = (Vec::with_capacity(bytes.len()), bytes.as_slice());
    while let Some(first) = rest.first() {
        let (sign, length) = overlong_ascii(rest).unwrap_or((*first, 1));
        shortened.push(sign);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&shortened).into_owned()
}

/// Decodes `%uXXXX`, except for halves of surrogate pairs.
fn decode_utf16(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        decoded.push_str(before);
        let unit = escape.strip_prefix("%u").or_else(|| escape.strip_prefix("%U"));
        let digits =
            unit.and_then(|unit| unit.get(..4)).filter(|digits| digits.bytes().all(|one| one.is_ascii_hexdigit()));
        let sign = digits.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        decoded.push(sign.unwrap_or('%'));
        rest = &escape[if sign.is_some() { "%u0000".len() } else { 1 }..];
    }
    decoded + rest
}

/// Returns the ASCII character that bytes begin with in an overlong form, and the length of the
/// form.
fn overlong_ascii(bytes: &[u8]) -> Option<(u8, usize)> {
    let (length, high_bits) = match bytes.first()? {
        first @ (0xC0 | 0xC1) => (2, u32::from(first & 1)),
        0xE0 => (3, 0),
        0xF0 => (4, 0),
        0xF8 => (5, 0),
        0xFC => (6, 0),
        _ => return None,
    };
    let rest = bytes.get(1..length)?;
    let is_continued = |byte: &u8| byte & 0xC0 == 0x80;
    let code = rest.iter().fold(high_bits, |code, byte| code << 6 | u32::from(byte & 0x3F));
    let sign = u8::try_from(code).ok().filter(u8::is_ascii);
    sign.filter(|_| rest.iter().all(is_continued)).map(|sign| (sign, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenient_decoding_finds_ascii_in_all_forms() {
        let check = |text: &str, expected: &str| assert_eq!(decode_leniently(text), expected, "{text}");
        check("a%2Fb", "a/b");
        check("%c0%ae%C0%af%c1%9c", "./\\");
        check("%e0%80%ae%f0%80%80%ae%f8%80%80%80%ae%fc%80%80%80%80%ae", "....");
        check("%c0%2e%c1%2f", "\u{FFFD}.\u{FFFD}/");
        check("%u002e%U002Fx%uff0e", "./x．");
        // Complete characters stay, and so do texts in none of these forms.
        check("é…💡", "é…💡");
        check("%C3%A9%E2%80%A6%f0%9f%92%a1", "é…💡");
        check("%e0%a4%85", "अ");
        check("100% %u12 %u12é4 %uD800 %", "100% %u12 %u12é4 %uD800 %");
        check("%e0%80", "\u{FFFD}\u{FFFD}");
        check("%c0", "\u{FFFD}");
    }

    #[test]
    fn segments_that_a_server_could_read_as_dots_are_found() {
        for dots in [".", "..", " .. ", "..;a", "..?a", "..#a", "..\0a", ".\0.", "\0..", "\u{1}.\t", "．.", "‥", "․"]
        {
            assert!(is_dot_segment(dots), "{dots:?}");
        }
        for other in ["", "...", "..a", ".a", "a..", "…", "‥.", ";..", "a;..", "\0"] {
            assert!(!is_dot_segment(other), "{other:?}");
        }
    }
}
