//! Dates and durations as texts for people, in English and in UTC.

use super::dates::parts;
use crate::Arguments;
use crate::meter::MAX_BYTES;
use crate::parameters::Kind::{Date, Flag, Number, Text};
use crate::parameters::Parameters::Named;
use crate::parameters::{Parameter, optional, required};
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use jiff::civil::DateTime;
use serde_json::Value;

const LOCALE: Parameter = optional("locale", Text);

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_dayjs.format", Named(&[required("on", Date), LOCALE, optional("format", Text)]), Plain(format_date),
        "A date as a text, in the format of Day.js: `YYYY`, `MM`, `MMM`, `D`, `ddd`, `HH`, `mm` and so on; `[…]` is kept as it is.",
        [r#"{"on": {"_date": "2019-06-04"}, "format": "D MMM YYYY"}"# => r#""4 Jun 2019""#,
         r#"{"on": 1611837509802, "format": "dddd, MMMM D, h:mm A [in] YY"}"# => r#""Thursday, January 28, 12:38 PM in 21""#,
         r#"["2019-06-04"]"# => r#""2019-06-04T00:00:00+00:00""#]),
    operator!("_dayjs.humanizeDuration", Named(&[required("on", Number), LOCALE, optional("withSuffix", Flag)]), Plain(humanize),
        "A number of milliseconds in words.",
        [r#"{"on": 245923000, "withSuffix": true}"# => r#""in 3 days""#, "[-60000]" => r#""a minute""#, r#"{"on": -7200000, "withSuffix": true}"# => r#""2 hours ago""#]),
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn check_locale(arguments: &mut Arguments) -> Result<(), String> {
    let locale = arguments.text(1);
    let is_english = locale.is_empty() || locale == "en" || locale.starts_with("en-");
    if is_english {
        Ok(())
    } else {
        Err("only English names are available: use numbers, such as `YYYY-MM-DD`".to_owned())
    }
}

fn format_date(mut arguments: Arguments) -> Result<Value, String> {
    check_locale(&mut arguments)?;
    let date = parts(&arguments)?;
    let pattern = if arguments.get(2).is_some() { arguments.text(2) } else { "YYYY-MM-DDTHH:mm:ssZ".to_owned() };
    // No sign of a pattern yields more than nine characters.
    if pattern.len() > MAX_BYTES / 16 {
        return Err("the format is too long".to_owned());
    }
    Ok(format(date, &pattern).into())
}

/// Formats a date in UTC.
pub(super) fn format(date: DateTime, pattern: &str) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some((kept, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            text.push_str(kept);
            rest = after;
            continue;
        }
        let longest = match first {
            'Y' | 'M' | 'd' => 4,
            'S' => 3,
            _ => 2,
        };
        let run = rest.chars().take_while(|next| *next == first).take(longest).count();
        // The signs of the tokens are one byte long.
        let (sign, after) = rest.split_at(run * first.len_utf8());
        match token(date, sign) {
            Some(part) => {
                text.push_str(&part);
                rest = after;
            }
            None => {
                text.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    text
}

fn token(date: DateTime, sign: &str) -> Option<String> {
    let month = MONTHS.get(usize::try_from(date.month()).ok()?.checked_sub(1)?)?;
    let weekday = date.weekday().to_sunday_zero_offset();
    let day = DAYS.get(usize::try_from(weekday).ok()?)?;
    let hour = if date.hour() % 12 == 0 { 12 } else { date.hour() % 12 };
    let half = if date.hour() < 12 { "am" } else { "pm" };
    let start = |name: &str, length: usize| name.get(..length).map(str::to_owned);
    Some(match sign {
        "YY" => format!("{:02}", date.year().rem_euclid(100)),
        "YYYY" => format!("{:04}", date.year()),
        "M" => date.month().to_string(),
        "MM" => format!("{:02}", date.month()),
        "MMM" => start(month, 3)?,
        "MMMM" => (*month).to_owned(),
        "D" => date.day().to_string(),
        "DD" => format!("{:02}", date.day()),
        "d" => weekday.to_string(),
        "dd" => start(day, 2)?,
        "ddd" => start(day, 3)?,
        "dddd" => (*day).to_owned(),
        "H" => date.hour().to_string(),
        "HH" => format!("{:02}", date.hour()),
        "h" => hour.to_string(),
        "hh" => format!("{hour:02}"),
        "m" => date.minute().to_string(),
        "mm" => format!("{:02}", date.minute()),
        "s" => date.second().to_string(),
        "ss" => format!("{:02}", date.second()),
        "SSS" => format!("{:03}", date.millisecond()),
        "a" => half.to_owned(),
        "A" => half.to_uppercase(),
        "Z" => "+00:00".to_owned(),
        "ZZ" => "+0000".to_owned(),
        _ => return None,
    })
}

fn humanize(mut arguments: Arguments) -> Result<Value, String> {
    check_locale(&mut arguments)?;
    let milliseconds = arguments.number(0).unwrap_or_default();
    let words = duration(milliseconds.abs() / 1_000.0);
    let with_suffix = arguments.value(2) == Value::Bool(true);
    let shown = if !with_suffix {
        words
    } else if milliseconds > 0.0 {
        format!("in {words}")
    } else {
        format!("{words} ago")
    };
    Ok(shown.into())
}

/// Returns a number of seconds in words, with the thresholds of Day.js.
fn duration(seconds: f64) -> String {
    let counted = |seconds_of: f64, name: &str| format!("{} {name}", libm::round(seconds / seconds_of));
    let (minute, hour, day) = (60.0, 3_600.0, 86_400.0);
    let (month, year) = (day * 30.436_875, day * 365.242_5);
    let rounded = |of: f64| libm::round(seconds / of);
    match seconds {
        _ if rounded(1.0) <= 44.0 => "a few seconds".to_owned(),
        _ if rounded(1.0) <= 89.0 => "a minute".to_owned(),
        _ if rounded(minute) <= 44.0 => counted(minute, "minutes"),
        _ if rounded(minute) <= 89.0 => "an hour".to_owned(),
        _ if rounded(hour) <= 21.0 => counted(hour, "hours"),
        _ if rounded(hour) <= 35.0 => "a day".to_owned(),
        _ if rounded(day) <= 25.0 => counted(day, "days"),
        _ if rounded(day) <= 45.0 => "a month".to_owned(),
        _ if rounded(month) <= 10.0 => counted(month, "months"),
        _ if rounded(month) <= 17.0 => "a year".to_owned(),
        _ => counted(year, "years"),
    }
}
