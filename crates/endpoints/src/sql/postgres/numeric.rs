//! Decodes `numeric`:
//! <https://github.com/postgres/postgres/blob/master/src/backend/utils/adt/numeric.c>,
//! `numeric_send`.

use super::value::BinaryReader;
use serde_json::Value;
use std::fmt::Write;

/// Formats the binary format as a decimal number with all digits. The digits are in groups of four,
/// the first of which has the exponent `weight`; `scale` is the number of decimal places.
pub(super) fn numeric_text(bytes: &[u8]) -> Option<String> {
    let mut reader = BinaryReader(bytes);
    let (count, weight, sign, scale) = (reader.read_i16()?, reader.read_i16()?, reader.read_i16()?, reader.read_i16()?);
    // The sign is an unsigned 16-bit value.
    let sign = match sign.cast_unsigned() {
        0x0000 => "",
        0x4000 => "-",
        0xC000 => return Some("NaN".to_owned()),
        0xD000 => return Some("Infinity".to_owned()),
        0xF000 => return Some("-Infinity".to_owned()),
        _ => return None,
    };
    let groups = (0..count).map(|_| reader.read_i16()).collect::<Option<Vec<_>>>()?;
    let group = |at: i32| usize::try_from(at).ok().and_then(|at| groups.get(at)).copied().unwrap_or(0);
    let (weight, scale) = (i32::from(weight), usize::try_from(scale).ok()?);
    let mut text = sign.to_owned();
    // Writing to a String cannot fail.
    let _ = write!(text, "{}", if weight < 0 { 0 } else { group(0) });
    for at in 1..=weight {
        let _ = write!(text, "{:04}", group(at));
    }
    if scale > 0 {
        text.push('.');
        let end = text.len() + scale;
        for at in (weight + 1..).take(scale.div_ceil(4)) {
            let _ = write!(text, "{:04}", group(at));
        }
        text.truncate(end);
    }
    Some(text)
}

/// Returns a JSON number if one represents the same value, otherwise a string.
pub(super) fn numeric_value(text: String) -> Value {
    let shortest = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if let Ok(whole) = shortest.parse::<i64>() {
        return Value::from(whole);
    }
    match shortest.parse::<f64>() {
        Ok(number) if number.is_finite() && number.to_string() == shortest => Value::from(number),
        _ => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{numeric_text, numeric_value};

    #[test]
    fn binary_numerics_are_decoded() {
        let check = |parts: &[i16], expected: &str| {
            let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_be_bytes()).collect();
            assert_eq!(numeric_text(&bytes).as_deref(), Some(expected));
        };
        check(&[0, 0, 0, 0], "0");
        check(&[0, 0, 0, 2], "0.00");
        check(&[2, 0, 0, 2, 19, 9900], "19.99");
        check(&[1, 1, 0, 0, 7], "70000");
        check(&[1, -2, 0x4000, 7, 1230], "-0.0000123");
        check(&[0, 0, 0xC000_u16.cast_signed(), 0], "NaN");
        assert_eq!(numeric_text(&[0, 3, 0, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn numerics_keep_their_value_in_json() {
        let check = |text: &str, expected: &str| assert_eq!(numeric_value(text.to_owned()).to_string(), expected);
        check("5.00", "5");
        check("-19.90", "-19.9");
        check("0.1", "0.1");
        check("9223372036854775807", "9223372036854775807");
        check("9223372036854775809", r#""9223372036854775809""#);
        check("0.12345678901234567890", r#""0.12345678901234567890""#);
        check("NaN", r#""NaN""#);
    }
}
