//! Dates. JSON has none, so a date is a text in ISO 8601 format or a number of milliseconds since
//! 1970 UTC. Server and browser may be in different time zones, so all parts of dates are in UTC.

use super::identifiers::now;
use crate::date::milliseconds;
use crate::evaluation::Evaluation;
use crate::parameters::Kind::{Any, Date, Integer};
use crate::parameters::Parameters::{Named, Nothing, One};
use crate::parameters::required;
use crate::registry::Run::{Calling, Plain};
use crate::registry::{Definition, operator};
use crate::{Arguments, OperatorError};
use jiff::Timestamp;
use jiff::civil::{Date as Day, DateTime, Time};
use jiff::tz::Offset;
use serde_json::Value;

/// Declares an operator that returns a part of a date.
macro_rules! getter {
    ($name:literal, $part:expr, $summary:literal, $result:literal) => {
        operator!($name, One(Date), Plain(|arguments| part(&arguments, $part)), $summary, [r#""2021-01-28T12:38:29.802Z""# => $result])
    };
}

/// Declares an operator that changes a part of a date.
macro_rules! setter {
    ($name:literal, $parameter:literal, $index:literal, $summary:literal, $value:literal => $result:literal) => {
        operator!($name, Named(&[required("on", Date), required($parameter, Integer)]), Plain(|arguments| set(&arguments, $index)), $summary,
            [$value => $result])
    };
}

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_date", One(Any), Calling(iso), "A date as a text in ISO 8601 format, of such a text or of milliseconds; `now` is the time of the evaluation, which pages cannot show.",
        ["1611837509802" => r#""2021-01-28T12:38:29.802Z""#, r#""2021-01-28""# => r#""2021-01-28T00:00:00.000Z""#,
         r#""2021-01-28T14:36:03.957+02:00""# => r#""2021-01-28T12:36:03.957Z""#]),
    operator!("_date.now", Nothing, Calling(|evaluation, _| now(evaluation).and_then(|now| in_range(evaluation, now))), "The time of the evaluation.",
        ["null" => r#""2021-01-28T12:38:29.802Z""#]).not_rendered(),
    operator!("_date.parse", One(Date), Plain(time), "The milliseconds since 1970 UTC of a text.", [r#""2021-01-28T12:38:29.802Z""# => "1611837509802"]),
    operator!("_date.getTime", One(Date), Plain(time), "The milliseconds since 1970 UTC.", [r#""1970-01-01T00:00:01Z""# => "1000"]),
    operator!("_date.valueOf", One(Date), Plain(time), "The milliseconds since 1970 UTC.", [r#""1970-01-02""# => "86400000"]),
    getter!("_date.getUTCDate", |date| date.day().into(), "The day of the month.", "28"),
    getter!("_date.getUTCDay", |date| date.weekday().to_sunday_zero_offset().into(), "The day of the week; 0 is Sunday.", "4"),
    getter!("_date.getUTCFullYear", |date| date.year().into(), "The year.", "2021"),
    getter!("_date.getUTCHours", |date| date.hour().into(), "The hour.", "12"),
    getter!("_date.getUTCMilliseconds", |date| date.millisecond().into(), "The milliseconds.", "802"),
    getter!("_date.getUTCMinutes", |date| date.minute().into(), "The minutes.", "38"),
    getter!("_date.getUTCMonth", |date| (date.month() - 1).into(), "The month; 0 is January.", "0"),
    getter!("_date.getUTCSeconds", |date| date.second().into(), "The seconds.", "29"),
    setter!("_date.setUTCDate", "dayOfMonth", 2, "The milliseconds of the date with another day of the month; 32 is in the next month.",
        r#"{"on": "2021-01-28", "dayOfMonth": 32}"# => "1612137600000"),
    setter!("_date.setUTCFullYear", "year", 0, "The milliseconds of the date in another year.", r#"["2021-01-28", 1970]"# => "2332800000"),
    setter!("_date.setUTCHours", "hours", 3, "The milliseconds of the date at another hour.", r#"["1970-01-01", 25]"# => "90000000"),
    setter!("_date.setUTCMilliseconds", "milliseconds", 6, "The milliseconds of the date with other milliseconds.", r#"["1970-01-01", 5]"# => "5"),
    setter!("_date.setUTCMinutes", "minutes", 4, "The milliseconds of the date at another minute.", r#"["1970-01-01", -1]"# => "-60000"),
    setter!("_date.setUTCMonth", "month", 1, "The milliseconds of the date in another month; 0 is January.", r#"["1970-01-01", 12]"# => "31536000000"),
    setter!("_date.setUTCSeconds", "seconds", 5, "The milliseconds of the date at another second.", r#"["1970-01-01", 61]"# => "61000"),
    operator!("_date.setTime", Named(&[required("on", Date), required("time", Integer)]), Plain(set_time), "The milliseconds that are given.", [r#"["1970-01-01", 7]"# => "7"]),
    operator!("_date.toISOString", One(Date), Plain(to_iso), "The date in ISO 8601 format.", ["0" => r#""1970-01-01T00:00:00.000Z""#]),
    operator!("_date.toJSON", One(Date), Plain(to_iso), "The date in ISO 8601 format.", ["0" => r#""1970-01-01T00:00:00.000Z""#]),
    operator!("_date.toUTCString", One(Date), Plain(to_utc_string), "The date as HTTP writes it.", ["1611837509802" => r#""Thu, 28 Jan 2021 12:38:29 GMT""#]),
];

/// Returns the parts of the first argument, which was checked to be a date.
pub(super) fn parts(arguments: &Arguments) -> Result<DateTime, String> {
    let milliseconds = arguments.get(0).and_then(milliseconds);
    let timestamp = milliseconds.and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok());
    timestamp.map(|timestamp| Offset::UTC.to_datetime(timestamp)).ok_or_else(|| "it is not a date".to_owned())
}

fn format(date: DateTime) -> String {
    let (year, sign) = (date.year().unsigned_abs(), if date.year() < 0 { "-00" } else { "" });
    let (time, millisecond) = (date.time(), date.millisecond());
    format!(
        "{sign}{year:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{millisecond:03}Z",
        date.month(),
        date.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

fn iso(evaluation: &mut Evaluation<'_>, arguments: Arguments) -> Result<Value, OperatorError> {
    if arguments.get(0).is_some_and(|value| value == "now") {
        let now = now(evaluation)?;
        return in_range(evaluation, now);
    }
    match parts(&arguments) {
        Ok(date) => Ok(format(date).into()),
        Err(_) => Err(evaluation.error("expected a date in ISO 8601 format, in milliseconds, or `now`")),
    }
}

fn in_range(evaluation: &Evaluation<'_>, milliseconds: i64) -> Result<Value, OperatorError> {
    let timestamp = Timestamp::from_millisecond(milliseconds);
    let timestamp = timestamp.map_err(|_| evaluation.error("the date is out of range"))?;
    Ok(format(Offset::UTC.to_datetime(timestamp)).into())
}

fn time(arguments: Arguments) -> Result<Value, String> {
    arguments.get(0).and_then(milliseconds).map(Value::from).ok_or_else(|| "it is not a date".to_owned())
}

fn set_time(arguments: Arguments) -> Result<Value, String> {
    arguments.get(1).and_then(milliseconds).map(Value::from).ok_or_else(out_of_range)
}

fn part(arguments: &Arguments, part: fn(DateTime) -> Value) -> Result<Value, String> {
    parts(arguments).map(part)
}

fn to_iso(arguments: Arguments) -> Result<Value, String> {
    parts(&arguments).map(|date| format(date).into())
}

fn to_utc_string(arguments: Arguments) -> Result<Value, String> {
    let date = parts(&arguments)?;
    Ok(super::day_formats::format(date, "ddd, DD MMM YYYY HH:mm:ss [GMT]").into())
}

fn out_of_range() -> String {
    "the date is out of range".to_owned()
}

/// Changes a part of a date: year, month, day, hours, minutes, seconds or milliseconds. A value that is out of range
/// continues in the next larger part, as in JavaScript.
fn set(arguments: &Arguments, index: usize) -> Result<Value, String> {
    let old = parts(arguments)?;
    let mut parts: [i64; 7] = [
        old.year().into(),
        i64::from(old.month()) - 1,
        old.day().into(),
        old.hour().into(),
        old.minute().into(),
        old.second().into(),
        old.millisecond().into(),
    ];
    let value = arguments.number(1).unwrap_or_default() as i64;
    parts.iter_mut().skip(index).take(1).for_each(|part| *part = value);
    let composed = compose(parts).filter(|milliseconds| Timestamp::from_millisecond(*milliseconds).is_ok());
    composed.map(Value::from).ok_or_else(out_of_range)
}

fn compose([year, month, day, hours, minutes, seconds, milliseconds]: [i64; 7]) -> Option<i64> {
    let year = i16::try_from(year.checked_add(month.div_euclid(12))?).ok()?;
    let first = Day::new(year, i8::try_from(month.rem_euclid(12)).ok()? + 1, 1).ok()?;
    let first = Offset::UTC.to_timestamp(first.to_datetime(Time::midnight())).ok()?.as_millisecond();
    // Days of UTC have the same length.
    let hours = day.checked_sub(1)?.checked_mul(24)?.checked_add(hours)?;
    let time =
        hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)?.checked_mul(1_000)?;
    first.checked_add(time)?.checked_add(milliseconds)
}
