//! The ticks of schedules, and the messages about those that cannot be read.

use insta::assert_snapshot;
use jiff::Timestamp;
use proptest::prelude::*;
use schedules::{DueTicks, MAX_CAUGHT_UP, MissedTicks, Schedule};

fn schedule(expression: &str, zone: &str) -> Schedule {
    Schedule::parse(expression, zone).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn listed(ticks: &[Timestamp]) -> String {
    ticks.iter().map(Timestamp::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn next_times_follow_the_expression_and_the_time_zone() {
    let check = |expression: &str, zone: &str, after: &str, expected: &str| {
        assert_eq!(listed(&schedule(expression, zone).next_times(at(after), 3)), expected, "{expression} {zone}");
    };
    check(
        "0 9 * * MON-FRI",
        "UTC",
        "2026-11-27T09:00:00Z",
        "2026-11-30T09:00:00Z 2026-12-01T09:00:00Z 2026-12-02T09:00:00Z",
    );
    check(
        "0 9 * * *",
        "Europe/Berlin",
        "2026-07-01T00:00:00Z",
        "2026-07-01T07:00:00Z 2026-07-02T07:00:00Z 2026-07-03T07:00:00Z",
    );
    check(
        "*/20 * * * *",
        "Asia/Kolkata",
        "2026-01-01T00:00:00.5Z",
        "2026-01-01T00:10:00Z 2026-01-01T00:30:00Z 2026-01-01T00:50:00Z",
    );
    check(
        "0 0 29 2 *",
        "UTC",
        "2026-01-01T00:00:00Z",
        "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z 2036-02-29T00:00:00Z",
    );
    check("0 0 L * *", "UTC", "2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z 2026-03-31T00:00:00Z 2026-04-30T00:00:00Z");
    check(
        "0 12 * * 5#2",
        "UTC",
        "2026-01-01T00:00:00Z",
        "2026-01-09T12:00:00Z 2026-02-13T12:00:00Z 2026-03-13T12:00:00Z",
    );
    // A day matches if one of its two fields does.
    check(
        "0 0 1 * MON",
        "UTC",
        "2026-10-31T00:00:00Z",
        "2026-11-01T00:00:00Z 2026-11-02T00:00:00Z 2026-11-09T00:00:00Z",
    );
}

#[test]
fn ticks_around_changes_of_the_clock_are_as_documented() {
    let check = |expression: &str, after: &str, expected: &str| {
        assert_eq!(listed(&schedule(expression, "Europe/Berlin").next_times(at(after), 3)), expected, "{expression}");
    };
    // In the night to 29 March 2026 the clock goes from 02:00 to 03:00, which is 01:00 UTC.
    check("30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z 2026-03-31T00:30:00Z");
    check("*/30 * * * *", "2026-03-29T00:20:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z");
    // In the night to 25 October 2026 it goes from 03:00 back to 02:00.
    check("30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z 2026-10-27T01:30:00Z");
    check("*/30 * * * *", "2026-10-25T00:20:00Z", "2026-10-25T00:30:00Z 2026-10-25T01:00:00Z 2026-10-25T01:30:00Z");
}

#[test]
fn missed_ticks_are_made_up_for_by_policy() {
    let hourly = schedule("0 * * * *", "UTC");
    let check = |since: &str, now: &str, missed: MissedTicks, expected: &str, left_out: bool| {
        let due = hourly.due(at(since), at(now), missed);
        assert_eq!((listed(&due.ticks).as_str(), due.left_out), (expected, left_out), "{since} {now} {missed:?}");
    };
    let (since, now) = ("2026-01-01T00:00:00Z", "2026-01-01T03:00:01Z");
    check(since, now, MissedTicks::Skip, "2026-01-01T03:00:00Z", true);
    check(since, now, MissedTicks::Once, "2026-01-01T03:00:00Z", true);
    check(since, now, MissedTicks::All, "2026-01-01T01:00:00Z 2026-01-01T02:00:00Z 2026-01-01T03:00:00Z", false);
    let late = "2026-01-01T03:20:00Z";
    check(since, late, MissedTicks::Skip, "", true);
    check(since, late, MissedTicks::Once, "2026-01-01T03:00:00Z", true);
    // On time, all policies are the same.
    for missed in [MissedTicks::Skip, MissedTicks::Once, MissedTicks::All] {
        check("2026-01-01T02:00:00Z", now, missed, "2026-01-01T03:00:00Z", false);
        check("2026-01-01T03:00:00Z", now, missed, "", false);
        // The clock was set back.
        check("2026-02-01T00:00:00Z", now, missed, "", false);
    }
}

#[test]
fn years_of_missed_ticks_are_bounded() {
    let every_minute = schedule("* * * * *", "America/New_York");
    let due = every_minute.due(at("2000-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), MissedTicks::All);
    assert_eq!((due.ticks.len(), due.left_out), (MAX_CAUGHT_UP, true));
    assert_eq!(due.ticks.last(), Some(&at("2026-01-01T00:00:00Z")));
}

#[test]
fn errors_say_what_to_write_instead() {
    let check = |expression: &str, zone: &str| Schedule::parse(expression, zone).unwrap_err().to_string();
    let expression = |text: &str| check(text, "UTC");
    assert_snapshot!(expression("@daily"), @"`@daily` is not a cron expression (write `0 0 * * *`)");
    assert_snapshot!(expression("hourly"), @"`hourly` is not a cron expression (write `0 * * * *`)");
    assert_snapshot!(expression(""), @"the cron expression is empty (minute, hour, day of the month, month and day of the week, as in `30 9 * * MON-FRI`)");
    assert_snapshot!(expression("0 30 9 * * *"), @"a cron expression has 5 fields, this has 6 (seconds are not supported; without them it is `30 9 * * *`)");
    assert_snapshot!(expression("9 * *"), @"a cron expression has 5 fields, this has 3 (minute, hour, day of the month, month and day of the week, as in `30 9 * * MON-FRI`)");
    assert_snapshot!(expression("0 25 * * *"), @"`25` cannot stand for the hour (0 to 23; `*` stands for all, and `,`, `-` and `/` for lists, ranges and steps)");
    assert_snapshot!(expression("/5 * * * *"), @"`/5` cannot stand for the minute (write `*/5`)");
    assert_snapshot!(expression("0/5 * * * *"), @"`0/5` cannot stand for the minute (write a range before the step: `*/5`, or `0-59/5`)");
    assert_snapshot!(expression("0 9 * * Monday"), @"`Monday` cannot stand for the day of the week (0 to 7 (0 and 7 are Sunday), SUN to SAT, `5#2` for the second Friday, or `5#L` for the last; `*` stands for all, and `,`, `-` and `/` for lists, ranges and steps)");
    assert_snapshot!(expression("0 0 30 2 *"), @"no date matches `0 0 30 2 *` (the day, the month and the day of the week never come together)");
    assert_snapshot!(expression(&"0 ".repeat(200)), @"a cron expression has at most 200 characters (split it into several triggers)");
    assert_snapshot!(check("0 9 * * *", "Europe/Berlln"), @"there is no time zone `Europe/Berlln` (did you mean `Europe/Berlin`?)");
    assert_snapshot!(check("0 9 * * *", "new york"), @"there is no time zone `new york` (did you mean `America/New_York`?)");
    assert_snapshot!(check("0 9 * * *", "here"), @"there is no time zone `here` (write a name of the IANA database, such as `Europe/Berlin` or `UTC`)");
}

/// Expressions of all shapes that are used, most of which have ticks.
fn expressions() -> impl Strategy<Value = String> {
    let field = |least: u8, most: u8| {
        prop_oneof![
            4 => Just("*".to_owned()),
            3 => (least..=most).prop_map(|value| value.to_string()),
            1 => (least..=most, least..=most).prop_map(|(one, other)| format!("{}-{}", one.min(other), one.max(other))),
            1 => (1..=most.max(2)).prop_map(|step| format!("*/{step}")),
            1 => prop::collection::vec(least..=most, 2..4)
                .prop_map(|values| values.iter().map(u8::to_string).collect::<Vec<_>>().join(",")),
        ]
    };
    let day = prop_oneof![
        4 => field(1, 28),
        1 => Just("L".to_owned()),
        1 => (1..=28_u8).prop_map(|day| format!("{day}W")),
    ];
    let weekday = prop_oneof![
        4 => field(0, 6),
        1 => (0..=6_u8, 1..=4_u8).prop_map(|(weekday, nth)| format!("{weekday}#{nth}")),
        1 => (0..=6_u8).prop_map(|weekday| format!("{weekday}#L")),
    ];
    (field(0, 59), field(0, 23), day, field(1, 12), weekday)
        .prop_map(|(minute, hour, day, month, weekday)| format!("{minute} {hour} {day} {month} {weekday}"))
}

const ZONES: [&str; 7] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    // A change of half an hour, and one that is not at a full hour.
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "America/Sao_Paulo",
];

/// Instants of 2015 to 2034, half of them near a change of the clock.
fn instants() -> impl Strategy<Value = i64> {
    let any = 1_420_070_400_i64..2_019_686_400;
    let near = (0..20_i64, prop_oneof![Just(87_i64), Just(297), Just(305), Just(95)], -86_400_i64..86_400)
        .prop_map(|(year, day, second)| 1_420_070_400 + (year * 365 + year / 4 + day) * 86_400 + second);
    prop_oneof![any, near]
}

proptest! {
    #[test]
    fn ticks_grow_and_are_found_from_both_sides(
        expression in expressions(),
        zone in prop::sample::select(&ZONES[..]),
        from in instants(),
        millis in 0_i32..1000,
    ) {
        let Ok(schedule) = Schedule::parse(&expression, zone) else { return Ok(()) };
        let after = Timestamp::new(from, millis * 1_000_000).unwrap();
        let ticks = schedule.next_times(after, 12);
        prop_assert!(!ticks.is_empty());
        prop_assert!(ticks[0] > after && ticks.is_sorted_by(|one, next| one < next), "{ticks:?}");
        prop_assert!(ticks.iter().all(|tick| tick.as_second() % 60 == 0), "{ticks:?}");
        // The same ticks, from the end.
        let last = *ticks.last().unwrap();
        let due = schedule.due(after, last, MissedTicks::All);
        prop_assert_eq!(due, DueTicks { ticks: ticks.clone(), left_out: false });
        // A server that looks at any times in between finds each tick once.
        let middle = Timestamp::from_second((after.as_second() + last.as_second()) / 2).unwrap().max(after);
        let mut halves = schedule.due(after, middle, MissedTicks::All).ticks;
        halves.extend(schedule.due(middle, last, MissedTicks::All).ticks);
        prop_assert_eq!(halves, ticks);
    }

    #[test]
    fn any_text_is_read_or_refused(expression in "\\PC{0,40}", zone in "[A-Za-z/_+-]{0,12}") {
        if let Err(error) = Schedule::parse(&expression, "UTC") {
            prop_assert!(!error.message.is_empty());
        }
        if let Err(error) = Schedule::parse("0 0 * * *", &zone) {
            prop_assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn any_combination_of_signs_is_read_or_refused(fields in prop::collection::vec("[0-9*/,LW#?+A-Z-]{1,8}", 5)) {
        let _ = Schedule::parse(&fields.join(" "), "Europe/Berlin");
    }
}
