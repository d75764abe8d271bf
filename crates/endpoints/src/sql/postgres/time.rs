//! Dates and times as ISO text. PostgreSQL counts from 2000-01-01, in days or microseconds.

use jiff::civil::{Date, DateTime, Time, date, datetime};
use jiff::{SignedDuration, Timestamp};

const BEGINS: Date = date(2000, 1, 1);
const BEGINS_AT: DateTime = datetime(2000, 1, 1, 0, 0, 0, 0);
/// 2000-01-01 in microseconds since 1970.
const SINCE_1970: i64 = 946_684_800_000_000;
const DAY: i64 = 86_400_000_000;

/// `date`; none for a day whose year has more than four digits.
pub(super) fn day(days: i32) -> Option<String> {
    match days {
        i32::MAX => Some("infinity".to_owned()),
        i32::MIN => Some("-infinity".to_owned()),
        days => BEGINS.checked_add(SignedDuration::from_hours(i64::from(days) * 24)).ok().map(|day| day.to_string()),
    }
}

/// `time`
pub(super) fn of_day(micros: i64) -> Option<String> {
    match micros {
        // PostgreSQL's end of the day.
        DAY => Some("24:00:00".to_owned()),
        micros => Time::midnight().checked_add(SignedDuration::from_micros(micros)).ok().map(|time| time.to_string()),
    }
}

/// `timestamp`, without a zone.
pub(super) fn civil(micros: i64) -> Option<String> {
    let told = |micros| BEGINS_AT.checked_add(SignedDuration::from_micros(micros)).ok().map(|at| at.to_string());
    infinite(micros).or_else(|| told(micros))
}

/// `timestamptz`, in UTC.
pub(super) fn instant(micros: i64) -> Option<String> {
    let told = |micros: i64| Timestamp::from_microsecond(micros.checked_add(SINCE_1970)?).ok().map(|at| at.to_string());
    infinite(micros).or_else(|| told(micros))
}

fn infinite(micros: i64) -> Option<String> {
    match micros {
        i64::MAX => Some("infinity".to_owned()),
        i64::MIN => Some("-infinity".to_owned()),
        _ => None,
    }
}
