//! Formats dates and times in ISO 8601. PostgreSQL counts days or microseconds from 2000-01-01.

use jiff::civil::{Date, DateTime, Time, date, datetime};
use jiff::{SignedDuration, Timestamp};

const EPOCH: Date = date(2000, 1, 1);
const EPOCH_START: DateTime = datetime(2000, 1, 1, 0, 0, 0, 0);
/// 2000-01-01 in microseconds since 1970-01-01.
const EPOCH_UNIX_MICROS: i64 = 946_684_800_000_000;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Formats a `date`; `None` if its year has more than four digits.
pub(super) fn date_text(days: i32) -> Option<String> {
    match days {
        i32::MAX => Some("infinity".to_owned()),
        i32::MIN => Some("-infinity".to_owned()),
        days => EPOCH.checked_add(SignedDuration::from_hours(i64::from(days) * 24)).ok().map(|day| day.to_string()),
    }
}

/// Formats a `time`.
pub(super) fn time_text(micros: i64) -> Option<String> {
    match micros {
        // PostgreSQL's end of the day.
        MICROS_PER_DAY => Some("24:00:00".to_owned()),
        micros => Time::midnight().checked_add(SignedDuration::from_micros(micros)).ok().map(|time| time.to_string()),
    }
}

/// Formats a `timestamp`, without a time zone.
pub(super) fn timestamp_text(micros: i64) -> Option<String> {
    let text = |micros| EPOCH_START.checked_add(SignedDuration::from_micros(micros)).ok().map(|at| at.to_string());
    infinity_text(micros).or_else(|| text(micros))
}

/// Formats a `timestamptz` in UTC.
pub(super) fn timestamptz_text(micros: i64) -> Option<String> {
    let text =
        |micros: i64| Timestamp::from_microsecond(micros.checked_add(EPOCH_UNIX_MICROS)?).ok().map(|at| at.to_string());
    infinity_text(micros).or_else(|| text(micros))
}

fn infinity_text(micros: i64) -> Option<String> {
    match micros {
        i64::MAX => Some("infinity".to_owned()),
        i64::MIN => Some("-infinity".to_owned()),
        _ => None,
    }
}
