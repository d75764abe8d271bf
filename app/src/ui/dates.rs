//! Dates and times for the user. The server renders a UTC date; after hydration the browser shows a
//! relative time.

use crate::prelude::*;
use crate::texts::{Text, fill, t};
use leptos::wasm_bindgen::JsValue;
use std::time::Duration;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A time as a `<time>` element.
#[component]
pub fn RelativeTime(
    /// Unix time in milliseconds.
    at: impl Fn() -> i64 + Clone + Send + 'static,
    /// The current Unix time in milliseconds, from [`use_now`].
    now: ReadSignal<Option<i64>>,
) -> AnyView {
    let moment = at.clone();
    let words = move || match now.get() {
        Some(now) => relative_time(at(), now),
        None => utc_date(at()),
    };
    view! { <time datetime=move || Some(iso_utc(moment()))>{words}</time> }.into_any()
}

/// Returns the browser's Unix time in milliseconds, updated every minute; `None` on the server and
/// during hydration, so that both render the same.
pub fn use_now() -> ReadSignal<Option<i64>> {
    let (now, set_now) = signal(None);
    let read = move || {
        set_now.try_set(Some(js_sys::Date::now() as i64));
    };
    Effect::new(move |_| {
        read();
        if let Ok(timer) = set_interval_with_handle(read, Duration::from_secs(60)) {
            on_cleanup(move || timer.clear());
        }
    });
    now
}

/// Formats a relative time: `5m ago`, `yesterday`; after a week the date in the user's time zone.
fn relative_time(at: i64, now: i64) -> String {
    match elapsed((now - at) / 1000) {
        Elapsed::Now => t(Text::JustNow).to_owned(),
        Elapsed::Minutes(count) => fill(Text::MinutesAgo, &[&count.to_string()]),
        Elapsed::Hours(count) => fill(Text::HoursAgo, &[&count.to_string()]),
        Elapsed::Days(1) => t(Text::YesterdayAgo).to_owned(),
        Elapsed::Days(count) => fill(Text::DaysAgo, &[&count.to_string()]),
        Elapsed::Older => local_date(at),
    }
}

/// The elapsed time, in the largest fitting unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elapsed {
    Now,
    Minutes(i64),
    Hours(i64),
    Days(i64),
    Older,
}

/// Returns the elapsed time. Times in the future count as now, because clocks differ.
fn elapsed(seconds: i64) -> Elapsed {
    match seconds {
        ..MINUTE => Elapsed::Now,
        MINUTE..HOUR => Elapsed::Minutes(seconds / MINUTE),
        HOUR..DAY => Elapsed::Hours(seconds / HOUR),
        _ if seconds < 7 * DAY => Elapsed::Days(seconds / DAY),
        _ => Elapsed::Older,
    }
}

/// Like [`utc_date`], in the user's time zone.
fn local_date(at: i64) -> String {
    let date = js_sys::Date::new(&JsValue::from_f64(at as f64));
    let (year, month, day) =
        (i64::from(date.get_full_year()), i64::from(date.get_month()) + 1, i64::from(date.get_date()));
    format_date(year, month, day)
}

/// Formats a time in the user's time zone: `22:32` for today, else `20 Nov 2026 22:32`.
pub(crate) fn local_time(at: i64) -> String {
    let date = js_sys::Date::new(&JsValue::from_f64(at as f64));
    let time = format!("{:02}:{:02}", date.get_hours(), date.get_minutes());
    let (day, today) = (local_date(at), local_date(js_sys::Date::now() as i64));
    if day == today { time } else { fill(Text::DateTime, &[&day, &time]) }
}

/// Returns `Today`, `Yesterday` or the date, in the user's time zone.
pub(crate) fn day_heading(at: i64) -> String {
    let day = local_date(at);
    // By the calendar, because some days do not have 24 hours.
    let yesterday = js_sys::Date::new_0();
    yesterday.set_date(yesterday.get_date() - 1);
    match day {
        _ if is_today(at) => t(Text::Today).to_owned(),
        day if day == local_date(yesterday.get_time() as i64) => t(Text::Yesterday).to_owned(),
        day => day,
    }
}

/// Returns whether a time is on the user's current day.
pub(crate) fn is_today(at: i64) -> bool {
    local_date(at) == local_date(js_sys::Date::now() as i64)
}

/// Returns when the user's current day began.
pub(crate) fn local_midnight(now: i64) -> i64 {
    let date = js_sys::Date::new(&JsValue::from_f64(now as f64));
    let minutes = date.get_hours() * 60 + date.get_minutes();
    now - now % (1000 * MINUTE) - i64::from(minutes) * 1000 * MINUTE
}

/// Formats a time in UTC: `2026-11-20T22:32:09Z`.
fn iso_utc(at: i64) -> String {
    let seconds = at.div_euclid(1000);
    let (year, month, day) = civil_date(seconds.div_euclid(DAY));
    let rest = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (rest / HOUR, rest % HOUR / MINUTE, rest % MINUTE);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Formats a date in UTC: `20 Nov 2026`.
pub(crate) fn utc_date(at: i64) -> String {
    let (year, month, day) = civil_date(at.div_euclid(1000 * DAY));
    format_date(year, month, day)
}

/// Formats a date without the browser's own formatting, because the server must write the same.
fn format_date(year: i64, month: i64, day: i64) -> String {
    let month = usize::try_from(month - 1).ok().and_then(|month| t(Text::Months).split(' ').nth(month));
    fill(Text::Date, &[&day.to_string(), month.unwrap_or_default(), &year.to_string()])
}

/// Converts days since 1970-01-01 to year, month and day of the Gregorian calendar. Counts years
/// from March, so that the leap day is the last day, in eras of 400 years.
fn civil_date(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_formatted_in_utc() {
        for (at, expected_iso, expected_day) in [
            (0, "1970-01-01T00:00:00Z", "1 Jan 1970"),
            (-1, "1969-12-31T23:59:59Z", "31 Dec 1969"),
            (951_782_400_000, "2000-02-29T00:00:00Z", "29 Feb 2000"),
            (951_868_800_000, "2000-03-01T00:00:00Z", "1 Mar 2000"),
            (1_795_213_929_999, "2026-11-20T22:32:09Z", "20 Nov 2026"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z", "1 Mar 2100"),
        ] {
            assert_eq!(iso_utc(at), expected_iso);
            assert_eq!(utc_date(at), expected_day);
        }
    }

    #[test]
    fn elapsed_time_uses_the_largest_fitting_unit() {
        for (seconds, expected) in [
            (-30, Elapsed::Now),
            (59, Elapsed::Now),
            (60, Elapsed::Minutes(1)),
            (3_599, Elapsed::Minutes(59)),
            (3_600, Elapsed::Hours(1)),
            (86_399, Elapsed::Hours(23)),
            (86_400, Elapsed::Days(1)),
            (7 * 86_400 - 1, Elapsed::Days(6)),
            (7 * 86_400, Elapsed::Older),
        ] {
            assert_eq!(elapsed(seconds), expected, "{seconds}");
        }
    }
}
