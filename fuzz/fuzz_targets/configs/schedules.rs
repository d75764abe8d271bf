//! Cron expressions and names of time zones: any text is read or refused, and ticks only grow.
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use schedules::{MissedTicks, Schedule};

fuzz_target!(|given: (u32, &str, &str)| {
    let (at, expression, zone) = given;
    let zone = if zone.is_empty() { "Europe/Berlin" } else { zone };
    let Ok(schedule) = Schedule::parse(expression, zone) else { return };
    let after = Timestamp::from_second(i64::from(at)).expect("four bytes of seconds are a time");
    let ticks = schedule.next_times(after, 5);
    assert!(ticks.first().is_none_or(|first| *first > after), "{ticks:?}");
    assert!(ticks.is_sorted_by(|one, next| one < next), "{ticks:?}");
    let Some(last) = ticks.last() else { return };
    let due = schedule.due(after, *last, MissedTicks::All);
    assert_eq!(due.ticks, ticks, "{schedule:?}");
});
