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
use store::{AgentUsage, DayUsage, UsageTotals};
use web::admin::filters::DAY_MS;
use web::admin::{ADMINISTRATION, Admin, PageError, from_store_error, page};
use web::html::Heading::{Number, Text};
use web::html::{dollars, link, number, seconds, table, text};
use web::openapi::ApiRouter;
use web::times::iso_day;
use web::{HttpError, valid_query};
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/overview", show_api, "Get the usage of the last days")
        .with_pages(Router::new().route("/admin", get(show)))
}

/// The query of the overview: the period.
#[derive(Deserialize, JsonSchema)]
struct OverviewQuery {
    /// `7` or `30`.
    #[serde(default)]
    days: Days,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
enum Days {
    #[default]
    #[serde(rename = "7")]
    Seven,
    #[serde(rename = "30")]
    Thirty,
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
    /// Every day, including those without usage.
    days: Vec<DayUsage>,
    /// The most expensive agents.
    agents: Vec<AgentUsage>,
}

async fn overview(state: &ConsoleState, query: &OverviewQuery, now: i64) -> Result<Overview, UserError> {
    let count = if query.days == Days::Seven { 7 } else { 30 };
    let last_day = now.div_euclid(DAY_MS);
    let first_day = last_day - count + 1;
    let store = &state.store;
    let used = store.usage_by_day(first_day, last_day).await.map_err(from_store_error)?;
    let of_day = |day: i64| DayUsage {
        day,
        totals: used.iter().find(|used| used.day == day).map(|used| used.totals).unwrap_or_default(),
    };
    Ok(Overview {
        first_day,
        last_day,
        total: store.total_usage(first_day, last_day).await.map_err(from_store_error)?,
        days: (first_day..=last_day).map(of_day).collect(),
        agents: store.usage_by_agent(first_day, last_day).await.map_err(from_store_error)?,
    })
}

/// `GET /admin`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<OverviewQuery>,
) -> Result<Response, PageError> {
    let seen = overview(&state, &query, now_millis()).await?;
    let range = format!("from={}&to={}", iso_day(seen.first_day * DAY_MS), iso_day(seen.last_day * DAY_MS));
    let values =
        |value: fn(&UsageTotals) -> f64| seen.days.iter().map(|day| Some(value(&day.totals))).collect::<Vec<_>>();
    let replies: Vec<_> = seen.days.iter().map(|day| reply_ms(&day.totals)).collect();
    let charts = view! {
        {chart::bars("Messages", &values(|used| used.messages as f64), number)}
        {chart::bars("Users", &values(|used| used.users as f64), number)}
        {chart::bars("Tokens", &values(tokens), number)}
        {chart::bars("Cost", &values(|used| used.cost_usd), dollars)}
        {chart::bars("Errors", &values(|used| used.failures as f64), number)}
        {chart::bars("Reply time", &replies, seconds)}
    };
    let spans = [("7", "7 days", Days::Seven), ("30", "30 days", Days::Thirty)].map(|(days, name, of)| {
        let current = (of == query.days).then_some("true");
        view! { <a class="cw-button" href=format!("/admin?days={days}") aria-current=current>{name}</a> }
    });
    let days = seen.days.iter().rev().map(|day| {
        let date = iso_day(day.day * DAY_MS);
        usage_row(date.clone(), &format!("from={date}&to={date}"), &day.totals)
    });
    let agents = seen.agents.iter().map(|agent| {
        let query = format!("{range}&agent={}", web::query_encoded(&agent.agent_id));
        usage_row(agent.agent_id.clone(), &query, &agent.totals)
    });
    let content = view! {
        <nav class="cw-admin-pager" aria-label="Period">{spans}</nav>
        {totals(&seen.total, &range)}
        <div class="cw-admin-charts">{charts}</div>
        <section class="cw-account-part" aria-labelledby="agents">
            <h2 id="agents">"By agent"</h2>
            {usage_table("Agent", agents)}
        </section>
        <section class="cw-account-part" aria-labelledby="days">
            <h2 id="days">"By day (UTC)"</h2>
            {usage_table("Day", days)}
        </section>
    };
    Ok(page(&admin, "/admin", StatusCode::OK, "Overview", content))
}

/// `GET /api/admin/overview?days=7|30`
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

fn totals(used: &UsageTotals, range: &str) -> impl IntoView + use<> {
    let of = |more: &str| format!("/admin/conversations?{range}{more}");
    let figures = [
        ("Messages", number(used.messages as f64), of("")),
        ("Users", number(used.users as f64), "/admin/users".to_owned()),
        ("Tokens", number(tokens(used)), of("")),
        ("Cost", dollars(used.cost_usd), of("&sort=cost")),
        ("Errors", number(used.failures as f64), of("&errors=1")),
        ("Time to first word", time(first_part_time(used)), of("")),
        ("Reply time", time(reply_ms(used)), of("")),
    ];
    let figure = |(name, value, path): (&'static str, String, String)| {
        view! { <div><dt>{name}</dt><dd><a href=path>{value}</a></dd></div> }
    };
    view! { <dl class="cw-admin-figures">{figures.map(figure).collect_view()}</dl> }
}

/// Renders the totals of a day or an agent, each with a link to the conversations behind it.
fn usage_row(name: String, query: &str, used: &UsageTotals) -> [AnyView; 7] {
    let of = |more: &str| format!("/admin/conversations?{query}{more}");
    [
        text(name),
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
        let html = usage_row("2026-11-23".to_owned(), "", &none).map(|cell| cell.to_html()).join("|");
        assert!(html.ends_with("|–") && !html.contains("0.0 s"), "{html}");
    }
}
