//! Conversions between values, texts and numbers that several families share.

use crate::meter::{self, MAX_BYTES};
use serde_json::{Number, Value};
use std::borrow::Cow;

/// The largest whole number up to which all whole numbers can be represented.
pub(super) const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns a number as a value: whole if it has no fraction, and `null` if it is not finite, as in
/// JSON.
pub(super) fn number(number: f64) -> Value {
    match number {
        whole if whole.fract() == 0.0 && whole.abs() <= MAX_SAFE_INTEGER => Value::from(whole as i64),
        other => Number::from_f64(other).map_or(Value::Null, Value::Number),
    }
}

/// Returns a value as a text: a text as it is, `null` as an empty one, others as JSON.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// Returns a text of several parts, within the maximum size.
pub(super) fn joined<'t>(parts: impl IntoIterator<Item = Cow<'t, str>>, separator: &str) -> Result<Value, String> {
    let mut joined = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        let separator = if index == 0 { "" } else { separator };
        if joined.len() + separator.len() + part.len() > MAX_BYTES {
            return Err(format!("the text is longer than {MAX_BYTES} bytes"));
        }
        joined.push_str(separator);
        joined.push_str(&part);
    }
    meter::charge_text(joined.len())?;
    Ok(Value::String(joined))
}

/// Returns the part between two positions as JavaScript's `slice` counts them: from the end if
/// negative, to the end if absent.
pub(super) fn slice_range(length: usize, start: Option<f64>, end: Option<f64>) -> (usize, usize) {
    let position =
        |number: f64| if number < 0.0 { clamp(length as f64 + number, length) } else { clamp(number, length) };
    let start = start.map_or(0, position);
    (start, end.map_or(length, position).max(start))
}

/// Returns a number as a position from 0 to a length.
pub(super) fn clamp(number: f64, length: usize) -> usize {
    // The conversion saturates, and yields 0 for NaN.
    (number.max(0.0) as usize).min(length)
}

/// Returns the UTF-16 code units of a text, by which JavaScript counts.
pub(super) fn code_units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// Returns the text of code units. Half a character becomes `U+FFFD`.
pub(super) fn from_code_units(units: &[u16]) -> Value {
    Value::String(String::from_utf16_lossy(units))
}

/// Returns the position in code units for one in bytes.
pub(super) fn position_of(text: &str, byte: usize) -> Value {
    text.get(..byte).map_or(0, |before| before.encode_utf16().count()).into()
}
