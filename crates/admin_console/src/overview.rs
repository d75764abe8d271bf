//! The overview of the usage in the last days. Every number links to the conversations behind it.

use crate::chart;
use crate::state::ConsoleState;
use auth::password::now_millis;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{AgentUsage, DayUsage, OwnerUsage, UsageFilter, UsageTotals};
use web::admin::filters::{Choice, DAY_MS, field, field_with_suggestions, non_empty, select_field, user_id};
use web::admin::{ADMINISTRATION, Admin, PageError, START_PATH, UserNames, from_store_error, page};
use web::html::Heading::{Number, Text};
use web::html::{dollars, link, number, seconds, table, text};
use web::openapi::ApiRouter;
use web::times::iso_day;
use web::{HttpError, query_encoded, valid_query};
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/overview", show_api, "Get the usage of the last days")
        .with_pages(Router::new().route("/admin", get(show)))
}

/// The query of the overview: the period, and whose usage.
#[derive(Default, Deserialize, JsonSchema)]
struct OverviewQuery {
    /// `7`, `30` or `90`.
    #[serde(default)]
    days: Days,
    /// Only this agent.
    agent: Option<String>,
    /// Only this user: the name or the id.
    user: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
enum Days {
    #[default]
    #[serde(rename = "7")]
    Seven,
    #[serde(rename = "30")]
    Thirty,
    #[serde(rename = "90")]
    Ninety,
}

impl Days {
    fn count(self) -> i64 {
        match self {
            Self::Seven => 7,
            Self::Thirty => 30,
            Self::Ninety => 90,
        }
    }
}

impl Choice for Days {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Seven, "7", "7 days"), (Self::Thirty, "30", "30 days"), (Self::Ninety, "90", "90 days")];
}

/// The usage of a period.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Overview {
    /// The first day of the period. Days are counted from 1970 in UTC; the last day is today.
    first_day: i64,
    /// The last day of the period.
    last_day: i64,
    /// The totals of the period.
    total: UsageTotals,
    /// The totals of the period before it, which has as many days.
    previous: UsageTotals,
    /// Every day, including those without usage.
    days: Vec<DayUsage>,
    /// The most expensive agents, at most 50.
    agents: Vec<AgentUsage>,
    /// The most expensive users, at most 50.
    users: Vec<OwnerUsage>,
}

async fn overview(state: &ConsoleState, query: &OverviewQuery, now: i64) -> Result<Overview, UserError> {
    let count = query.days.count();
    let last_day = now.div_euclid(DAY_MS);
    let first_day = last_day - count + 1;
    let store = &state.store;
    let filter = UsageFilter {
        first_day,
        last_day,
        agent_id: non_empty(query.agent.as_deref()),
        user_id: user_id(store, query.user.as_deref()).await?,
    };
    let before = UsageFilter { first_day: first_day - count, last_day: first_day - 1, ..filter.clone() };
    let used = store.usage_by_day(&filter).await.map_err(from_store_error)?;
    let of_day = |day: i64| DayUsage {
        day,
        totals: used.iter().find(|used| used.day == day).map(|used| used.totals).unwrap_or_default(),
    };
    Ok(Overview {
        first_day,
        last_day,
        total: store.total_usage(&filter).await.map_err(from_store_error)?,
        previous: store.total_usage(&before).await.map_err(from_store_error)?,
        days: (first_day..=last_day).map(of_day).collect(),
        agents: store.usage_by_agent(&filter).await.map_err(from_store_error)?,
        users: store.usage_by_user(&filter).await.map_err(from_store_error)?,
    })
}

/// `GET /admin`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<OverviewQuery>,
) -> Result<Response, PageError> {
    let seen = overview(&state, &query, now_millis()).await?;
    let names = UserNames::load(&state.store, seen.users.iter().map(|used| used.user_id.as_str())).await?;
    let period = format!("from={}&to={}", iso_day(seen.first_day * DAY_MS), iso_day(seen.last_day * DAY_MS));
    let chosen = conversation_filter(&query);
    let days = seen.days.iter().rev().map(|day| {
        let date = iso_day(day.day * DAY_MS);
        usage_row(text(date.clone()), &format!("from={date}&to={date}{chosen}"), &day.totals)
    });
    let agents = seen.agents.iter().map(|used| {
        let path = overview_path(&query, Some(&used.agent_id), query.user.as_deref());
        let range =
            format!("{period}{}&agent={}", parameter("owner", query.user.as_deref()), query_encoded(&used.agent_id));
        usage_row(link(path, &used.agent_id), &range, &used.totals)
    });
    let users = seen.users.iter().map(|used| {
        let path = overview_path(&query, query.agent.as_deref(), Some(&used.user_id));
        let range =
            format!("{period}{}&owner={}", parameter("agent", query.agent.as_deref()), query_encoded(&used.user_id));
        usage_row(link(path, names.get(&used.user_id).unwrap_or(&used.user_id)), &range, &used.totals)
    });
    let content = view! {
        {first_steps(&state)}
        {filters(&state, &query)}
        {totals(&seen, &format!("{period}{chosen}"), query.days.count())}
        <div class="cw-admin-charts">{charts(&seen.days)}</div>
        <section class="cw-account-part" aria-labelledby="agents">
            <h2 id="agents">"By agent"</h2>
            {usage_table("Agent", agents)}
        </section>
        <section class="cw-account-part" aria-labelledby="users">
            <h2 id="users">"By user"</h2>
            {usage_table("User", users)}
        </section>
        <section class="cw-account-part" aria-labelledby="days">
            <h2 id="days">"By day (UTC)"</h2>
            {usage_table("Day", days)}
        </section>
    };
    Ok(page(&admin, "/admin", StatusCode::OK, "Overview", content))
}

/// Returns a parameter of a query with a leading `&`; nothing without a value.
fn parameter(name: &str, value: Option<&str>) -> String {
    non_empty(value).map(|value| format!("&{name}={}", query_encoded(&value))).unwrap_or_default()
}

/// Returns the parameters with which the list of conversations shows those of the chosen agent and user.
fn conversation_filter(query: &OverviewQuery) -> String {
    parameter("agent", query.agent.as_deref()) + &parameter("owner", query.user.as_deref())
}

/// Returns the address of the overview of an agent and a user, for the same period.
fn overview_path(query: &OverviewQuery, agent: Option<&str>, user: Option<&str>) -> String {
    format!("/admin?days={}{}{}", query.days.count(), parameter("agent", agent), parameter("user", user))
}

/// Renders a link to the first steps, as long as only the built-in demo model answers.
fn first_steps(state: &ConsoleState) -> Option<AnyView> {
    let hint = view! {
        <section class="cw-account-part" aria-labelledby="first-steps">
            <h2 id="first-steps">"First steps"</h2>
            <p class="cw-account-note">"Only the built-in demo model answers so far. Add a model, ask the first question, and invite users."</p>
            <p class="cw-admin-links"><a class="cw-button cw-primary" href=START_PATH>"Begin"</a></p>
        </section>
    };
    (!state.host.config().has_model_provider()).then(|| hint.into_any())
}

fn filters(state: &ConsoleState, query: &OverviewQuery) -> AnyView {
    let config = state.host.config();
    let agents = config.agents.keys().cloned().collect::<Vec<_>>();
    view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Overview" action="/admin">
            {select_field("days", "Period", query.days)}
            {field_with_suggestions("agent", "Agent", query.agent.as_deref(), agents)}
            {field("user", "User (name or id)", "text", query.user.as_deref())}
            <button class="cw-button">"Show"</button>
        </form>
    }
    .into_any()
}

fn charts(days: &[DayUsage]) -> impl IntoView + use<> {
    let values = |value: fn(&UsageTotals) -> f64| days.iter().map(|day| Some(value(&day.totals))).collect::<Vec<_>>();
    let replies: Vec<_> = days.iter().map(|day| reply_ms(&day.totals)).collect();
    view! {
        {chart::bars("Messages", &values(|used| used.messages as f64), number)}
        {chart::bars("Users", &values(|used| used.users as f64), number)}
        {chart::bars("Tokens", &values(tokens), number)}
        {chart::bars("Cost", &values(|used| used.cost_usd), dollars)}
        {chart::bars("Errors", &values(|used| used.failures as f64), number)}
        {chart::bars("Reply time", &replies, seconds)}
    }
}

/// `GET /api/admin/overview?days=7|30|90`
async fn show_api(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<OverviewQuery>, QueryRejection>,
) -> Result<Json<Overview>, HttpError> {
    Ok(Json(overview(&state, &valid_query(query)?, now_millis()).await?))
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

/// Renders the totals with their change since the period before; `range` selects the conversations behind them.
fn totals(seen: &Overview, range: &str, days: i64) -> impl IntoView + use<> {
    let of = |more: &str| format!("/admin/conversations?{range}{more}");
    let (used, before) = (&seen.total, &seen.previous);
    let count = |value: fn(&UsageTotals) -> f64| (number(value(used)), change(Some(value(used)), Some(value(before))));
    let average = |value: fn(&UsageTotals) -> Option<f64>| (time(value(used)), change(value(used), value(before)));
    // Nobody looks for it where no provider has a cache.
    let has_saved = used.saved_usd != 0.0;
    let saved = ("Saved by caches", (signed_dollars(used.saved_usd), None), of("&sort=cost"));
    let figures = [
        Some(("Messages", count(|used| used.messages as f64), of(""))),
        Some(("Users", count(|used| used.users as f64), "/admin/users".to_owned())),
        Some(("Tokens", count(tokens), of(""))),
        Some(("Cost", (dollars(used.cost_usd), change(Some(used.cost_usd), Some(before.cost_usd))), of("&sort=cost"))),
        Some(saved).filter(|_| has_saved),
        Some(("Errors", count(|used| used.failures as f64), of("&errors=1"))),
        Some(("Time to first word", average(first_part_time), of(""))),
        Some(("Reply time", average(reply_ms), of(""))),
    ];
    let figure = |(name, (value, change), path): (&'static str, (String, Option<String>), String)| {
        let change = change.map(|change| view! { <dd class="cw-admin-change">{change}</dd> });
        view! { <div><dt>{name}</dt><dd><a href=path>{value}</a></dd>{change}</div> }
    };
    let about_saved =
        " What caches have saved is what the same tokens would have cost without them, less what they cost.";
    let note = format!("Percentages compare with the {days} days before.{}", if has_saved { about_saved } else { "" });
    view! {
        <dl class="cw-admin-figures">{figures.into_iter().flatten().map(figure).collect_view()}</dl>
        <p class="cw-account-note">{note}</p>
    }
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

/// Renders the totals of a day, an agent or a user, each with a link to the conversations behind it.
fn usage_row(name: AnyView, query: &str, used: &UsageTotals) -> [AnyView; 7] {
    let of = |more: &str| format!("/admin/conversations?{query}{more}");
    [
        name,
        link(of(""), number(used.messages as f64)),
        link(of(""), number(used.users as f64)),
        link(of(""), number(tokens(used))),
        link(of("&sort=cost"), dollars(used.cost_usd)),
        link(of("&errors=1"), number(used.failures as f64)),
        reply_ms(used).map_or_else(|| text(""), |reply| link(of(""), seconds(reply))),
    ]
}

fn usage_table(first: &'static str, lines: impl Iterator<Item = [AnyView; 7]>) -> AnyView {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_without_a_reply_are_dashes() {
        let none = UsageTotals::default();
        assert_eq!((time(reply_ms(&none)), time(first_part_time(&none))), ("–".to_owned(), "–".to_owned()));
        let used = UsageTotals { steps: 2, whole_ms: 3_000.0, first_part_ms: 400.0, ..UsageTotals::default() };
        assert_eq!((time(reply_ms(&used)), time(first_part_time(&used))), ("1.5 s".to_owned(), "0.2 s".to_owned()));
        let html = usage_row(text("2026-11-23"), "", &none).map(|cell| cell.to_html()).join("|");
        assert!(html.ends_with("|–") && !html.contains("0.0 s"), "{html}");
    }

    #[test]
    fn what_caches_have_saved_is_shown_where_there_is_something() {
        let check = |saved_usd: f64, expected: Option<&str>| {
            let total = UsageTotals { cost_usd: 2.0, saved_usd, ..UsageTotals::default() };
            let seen = Overview {
                first_day: 1,
                last_day: 7,
                total,
                previous: UsageTotals::default(),
                days: Vec::new(),
                agents: Vec::new(),
                users: Vec::new(),
            };
            let html = totals(&seen, "", 7).to_html();
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

    #[test]
    fn links_keep_the_period_and_the_filter() {
        let query = OverviewQuery { days: Days::Ninety, agent: Some("a b".to_owned()), user: Some(" ".to_owned()) };
        assert_eq!(conversation_filter(&query), "&agent=a+b");
        assert_eq!(overview_path(&query, query.agent.as_deref(), Some("ada")), "/admin?days=90&agent=a+b&user=ada");
    }
}
