//! Formats times for people, in UTC.

pub use auth::password::now_millis;

use jiff::Timestamp;

/// Formats a time to the minute. Times are Unix times in milliseconds in all functions here.
pub fn minute(at: i64) -> String {
    format_time(at, "%-d %b %Y, %H:%M")
}

/// Formats a day.
pub fn day(at: i64) -> String {
    format_time(at, "%-d %b %Y")
}

/// Formats a day as `2026-11-21`, for URLs and file names.
pub fn iso_day(at: i64) -> String {
    format_time(at, "%Y-%m-%d")
}

/// Formats a time for programs: RFC 3339.
pub fn rfc3339(at: i64) -> String {
    Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| at.to_string())
}

fn format_time(at: i64, format: &str) -> String {
    Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| at.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_in_utc() {
        assert_eq!(
            (day(0), iso_day(0), minute(0)),
            ("1 Jan 1970".into(), "1970-01-01".into(), "1 Jan 1970, 00:00".into())
        );
        assert_eq!(minute(1_700_000_000_000), "14 Nov 2023, 22:13");
        assert_eq!(minute(i64::MAX), "");
    }
}
