//! The figures, charts and tables of the overview.

use super::Overview;
use crate::chart::{self, Series};
use leptos::prelude::*;
use store::{DayRatings, DayUsage, ModelUsage, Ratings, UsageTotals};
use web::html::Heading::{Number, Text};
use web::html::{dollars, link, number, seconds, table, text};

/// Renders a chart of each figure, with the period before. There is one of the ratings where there are any. Messages and
/// errors belong to no model.
pub(super) fn charts(seen: &Overview) -> impl IntoView + use<> {
    let series = |value: fn(&UsageTotals) -> Option<f64>| {
        let all = |days: &[DayUsage]| days.iter().map(|day| value(&day.totals)).collect::<Vec<_>>();
        Series { values: all(&seen.days), before: all(&seen.previous_days) }
    };
    let rated = |count: fn(&DayRatings) -> i64| {
        let all = |days: &[DayUsage], ratings: &[DayRatings]| {
            let on = |day: &DayUsage| ratings.iter().find(|rated| rated.day == day.day).map_or(0, count);
            days.iter().map(|day| Some(on(day) as f64)).collect::<Vec<_>>()
        };
        Series { values: all(&seen.days, &seen.ratings), before: all(&seen.previous_days, &seen.previous_ratings) }
    };
    let ratings = (!seen.ratings.is_empty()).then(|| {
        view! {
            {chart::bars("Good ratings", &rated(|rated| rated.ratings.up), number)}
            {chart::bars("Bad ratings", &rated(|rated| rated.ratings.down), number)}
        }
    });
    let sent = if seen.is_of_model {
        chart::bars("Requests", &series(|used| Some(used.steps as f64)), number).into_any()
    } else {
        chart::bars("Messages", &series(|used| Some(used.messages as f64)), number).into_any()
    };
    let errors = (!seen.is_of_model).then(|| chart::bars("Errors", &series(|used| Some(used.failures as f64)), number));
    view! {
        {sent}
        {chart::bars("Users", &series(|used| Some(used.users as f64)), number)}
        {chart::bars("Tokens", &series(|used| Some(tokens(used))), number)}
        {chart::bars("Cost", &series(|used| Some(used.cost_usd)), dollars)}
        {errors}
        {chart::bars("Reply time", &series(reply_ms), seconds)}
        {ratings}
    }
}

fn tokens(used: &UsageTotals) -> f64 {
    used.input_tokens + used.output_tokens
}

/// Returns the average reply time in milliseconds; none without model requests.
pub(crate) fn reply_ms(used: &UsageTotals) -> Option<f64> {
    (used.steps > 0).then(|| used.whole_ms / used.steps as f64)
}

/// Returns the average time to the first part of a reply in milliseconds; none without model
/// requests.
fn first_part_time(used: &UsageTotals) -> Option<f64> {
    (used.steps > 0).then(|| used.first_part_ms / used.steps as f64)
}

/// Formats a duration; a dash for none.
fn time(ms: Option<f64>) -> String {
    ms.map_or_else(|| "–".to_owned(), seconds)
}

/// Renders the totals with their change since the period before; `range` selects the conversations behind them, if they
/// can be selected.
pub(super) fn totals(seen: &Overview, range: Option<&str>, days: i64) -> impl IntoView + use<> {
    let of = |more: &str| range.map(|range| conversations(range, more));
    let (used, before) = (&seen.total, &seen.previous);
    let count = |value: fn(&UsageTotals) -> f64| (number(value(used)), change(Some(value(used)), Some(value(before))));
    let average = |value: fn(&UsageTotals) -> Option<f64>| (time(value(used)), change(value(used), value(before)));
    let (share, share_before) = (good_share(sum(&seen.ratings)), good_share(sum(&seen.previous_ratings)));
    let is_rated = share.is_some();
    let satisfaction =
        (share.map_or_else(String::new, |share| format!("{} %", number(share * 100.0))), change(share, share_before));
    // The figure is left out where no provider has a cache.
    let has_saved = used.saved_usd != 0.0;
    let saved = ("Saved by caches", (signed_dollars(used.saved_usd), None), of("&sort=cost"));
    let figures = [
        Some(("Messages", count(|used| used.messages as f64), of(""))).filter(|_| !seen.is_of_model),
        Some(("Requests", count(|used| used.steps as f64), None)).filter(|_| seen.is_of_model),
        Some(("Users", count(|used| used.users as f64), Some("/admin/users".to_owned()))),
        Some(("Tokens", count(tokens), of(""))),
        Some(("Cost", (dollars(used.cost_usd), change(Some(used.cost_usd), Some(before.cost_usd))), of("&sort=cost"))),
        Some(saved).filter(|_| has_saved),
        Some(("Errors", count(|used| used.failures as f64), of("&errors=1"))).filter(|_| !seen.is_of_model),
        Some(("Good ratings", satisfaction, Some("/admin/feedback".to_owned()))).filter(|_| is_rated),
        Some(("Time to first word", average(first_part_time), of(""))),
        Some(("Reply time", average(reply_ms), of(""))),
    ];
    let figure = |(name, (value, change), path): (&'static str, (String, Option<String>), Option<String>)| {
        let change = change.map(|change| view! { <dd class="cw-admin-change">{change}</dd> });
        let value = match path {
            Some(path) => view! { <a href=path>{value}</a> }.into_any(),
            None => value.into_any(),
        };
        view! { <div><dt>{name}</dt><dd>{value}</dd>{change}</div> }
    };
    let about_saved = " “Saved by caches” is the cost of the same tokens without caches, minus their actual cost.";
    let note = format!(
        "Percentages, and the lines in the charts, compare with the {days} days before.{}",
        if has_saved { about_saved } else { "" }
    );
    view! {
        <dl class="cw-admin-figures">{figures.into_iter().flatten().map(figure).collect_view()}</dl>
        <p class="cw-account-note">{note}</p>
    }
}

/// Returns the share of good ratings, from 0 to 1; none without ratings.
fn good_share(Ratings { up, down }: Ratings) -> Option<f64> {
    (up + down > 0).then(|| up as f64 / (up + down) as f64)
}

/// Returns the ratings of all days together.
pub(super) fn sum(days: &[DayRatings]) -> Ratings {
    let add =
        |sum: Ratings, day: &DayRatings| Ratings { up: sum.up + day.ratings.up, down: sum.down + day.ratings.down };
    days.iter().fold(Ratings::default(), add)
}

/// Formats an amount that may be below zero.
pub(crate) fn signed_dollars(amount: f64) -> String {
    match amount {
        _ if amount <= -0.01 => format!("−{}", dollars(-amount)),
        _ if amount < 0.0 => format!("−${:.4}", -amount),
        _ => dollars(amount.abs()),
    }
}

/// Returns by how many percent a value differs from that of the period before; none without a value to compare with.
fn change(now: Option<f64>, before: Option<f64>) -> Option<String> {
    let (now, before) = (now?, before.filter(|before| *before > 0.0)?);
    let percent = ((now / before - 1.0) * 100.0).round();
    Some(match percent {
        0.0 => "±0 %".to_owned(),
        _ if percent > 0.0 => format!("+{} %", number(percent)),
        _ => format!("−{} %", number(-percent)),
    })
}

/// Returns the address of the conversations of a range.
fn conversations(range: &str, more: &str) -> String {
    format!("/admin/conversations?{range}{more}")
}

/// Renders the totals of a day, an agent, a user or a group, each with a link to the conversations behind it, if
/// `range` can select them.
pub(super) fn usage_row(name: AnyView, range: Option<&str>, used: &UsageTotals) -> [AnyView; 7] {
    let of = |more: &str, shown: String| match range {
        Some(range) => link(conversations(range, more), shown),
        None => text(shown),
    };
    [
        name,
        of("", number(used.messages as f64)),
        of("", number(used.users as f64)),
        of("", number(tokens(used))),
        of("&sort=cost", dollars(used.cost_usd)),
        of("&errors=1", number(used.failures as f64)),
        reply_ms(used).map_or_else(|| text(""), |reply| of("", seconds(reply))),
    ]
}

pub(super) fn usage_table(first: &'static str, lines: impl Iterator<Item = [AnyView; 7]>) -> AnyView {
    let columns = [
        Text(first),
        Number("Messages"),
        Number("Users"),
        Number("Tokens"),
        Number("Cost"),
        Number("Errors"),
        Number("Reply time"),
    ];
    table(columns, lines, "There was no activity.")
}

/// Renders the requests to each model, with a link to the overview of each.
pub(super) fn model_table(models: &[ModelUsage], path: impl Fn(&str) -> String) -> AnyView {
    let columns = [
        Text("Model"),
        Text("Provider"),
        Number("Requests"),
        Number("Users"),
        Number("Tokens"),
        Number("Cost"),
        Number("Time to first word"),
        Number("Reply time"),
    ];
    let average = |sum: f64, used: &ModelUsage| text(seconds(sum / used.steps.max(1) as f64));
    let rows = models.iter().map(|used| {
        [
            link(path(&used.model), used.model.clone()),
            text(used.provider.clone()),
            text(number(used.steps as f64)),
            text(number(used.users as f64)),
            text(number(used.input_tokens + used.output_tokens)),
            text(dollars(used.cost_usd)),
            average(used.first_part_ms, used),
            average(used.whole_ms, used),
        ]
    });
    table(columns, rows, "There were no model requests.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_without_a_reply_are_dashes() {
        let none = UsageTotals::default();
        assert_eq!((time(reply_ms(&none)), time(first_part_time(&none))), ("–".to_owned(), "–".to_owned()));
        let used = UsageTotals { steps: 2, whole_ms: 3_000.0, first_part_ms: 400.0, ..UsageTotals::default() };
        assert_eq!((time(reply_ms(&used)), time(first_part_time(&used))), ("1.5 s".to_owned(), "0.2 s".to_owned()));
        let html = usage_row(text("2026-11-23"), Some(""), &none).map(|cell| cell.to_html()).join("|");
        assert!(html.ends_with("|–") && !html.contains("0.0 s"), "{html}");
    }

    #[test]
    fn cache_savings_are_shown_if_there_are_any() {
        let check = |saved_usd: f64, expected: Option<&str>| {
            let total = UsageTotals { cost_usd: 2.0, saved_usd, ..UsageTotals::default() };
            let seen = Overview {
                first_day: 1,
                last_day: 7,
                total,
                previous: UsageTotals::default(),
                days: Vec::new(),
                ratings: Vec::new(),
                previous_ratings: Vec::new(),
                previous_days: Vec::new(),
                is_of_model: false,
                groups: Vec::new(),
                agents: Vec::new(),
                models: Vec::new(),
                users: Vec::new(),
            };
            let html = totals(&seen, Some(""), 7).to_html();
            let shown = html.split_once("Saved by caches").map(|(_, rest)| rest.split_once("</div>").unwrap().0);
            assert!(
                shown.is_some() == expected.is_some()
                    && shown.is_none_or(|shown| shown.contains(expected.unwrap_or_default())),
                "{html}"
            );
        };
        check(0.0, None);
        check(1.5, Some("$1.50"));
        check(-1.5, Some("−$1.50"));
    }

    #[test]
    fn the_share_of_good_ratings_is_shown_where_something_was_rated() {
        let check = |rated: &[(i64, i64)], before: (i64, i64), expected: Option<(&str, &str)>| {
            let rated_on = |&(up, down): &(i64, i64)| DayRatings { day: 1, ratings: Ratings { up, down } };
            let ratings: Vec<_> = rated.iter().map(rated_on).collect();
            let before = good_share(rated_on(&before).ratings);
            let shown = good_share(sum(&ratings)).map(|share| (share, change(Some(share), before)));
            let shown = shown.map(|(share, change)| (format!("{share:.2}"), change.unwrap_or_default()));
            assert_eq!(shown.as_ref().map(|(share, change)| (share.as_str(), change.as_str())), expected);
        };
        check(&[], (1, 0), None);
        check(&[(1, 0), (2, 1)], (1, 1), Some(("0.75", "+50 %")));
        check(&[(0, 2)], (0, 0), Some(("0.00", "")));
    }

    #[test]
    fn amounts_below_zero_have_a_sign() {
        let check = |amount: f64, expected: &str| assert_eq!(signed_dollars(amount), expected);
        check(1.5, "$1.50");
        check(-1.5, "−$1.50");
        check(0.002, "<$0.01");
        check(-0.002, "−$0.0020");
        check(0.0, "$0.00");
        check(-0.0, "$0.00");
    }

    #[test]
    fn changes_are_percentages() {
        let check = |now, before, expected: Option<&str>| {
            assert_eq!(change(now, before).as_deref(), expected, "{now:?} after {before:?}");
        };
        check(Some(15.0), Some(10.0), Some("+50 %"));
        check(Some(5.0), Some(10.0), Some("−50 %"));
        check(Some(0.0), Some(10.0), Some("−100 %"));
        check(Some(10.0), Some(10.0), Some("±0 %"));
        check(Some(30_000.0), Some(10.0), Some("+299,900 %"));
        check(Some(10.0), Some(0.0), None);
        check(None, Some(10.0), None);
        check(Some(10.0), None, None);
    }
}
