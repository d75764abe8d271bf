//! Times as people read them, in UTC.

use jiff::Timestamp;

/// To the minute; Unix time, milliseconds. So for the others.
pub(super) fn minute(at: i64) -> String {
    shown(at, "%-d %b %Y, %H:%M")
}

/// A day.
pub(super) fn day(at: i64) -> String {
    shown(at, "%-d %b %Y")
}

/// A day as addresses have it.
pub(super) fn iso_day(at: i64) -> String {
    shown(at, "%Y-%m-%d")
}

fn shown(at: i64, format: &str) -> String {
    Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| at.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(
            (day(0), iso_day(0), minute(0)),
            ("1 Jan 1970".into(), "1970-01-01".into(), "1 Jan 1970, 00:00".into())
        );
        assert_eq!(minute(1_700_000_000_000), "14 Nov 2023, 22:13");
        assert_eq!(minute(i64::MAX), "");
    }
}
