//! Reads dates.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde_json::Value;

/// Returns the milliseconds since 1970 UTC of a date.
pub(crate) fn milliseconds(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => {
            let milliseconds = number.as_f64()? as i64;
            Timestamp::from_millisecond(milliseconds).ok().map(|_| milliseconds)
        }
        // The longest date is far shorter.
        Value::String(text) if text.len() <= 100 => {
            let civil = || Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
            text.parse::<Timestamp>().ok().or_else(civil).map(Timestamp::as_millisecond)
        }
        _ => None,
    }
}
