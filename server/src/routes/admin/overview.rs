//! Usage over the last days. Every number links to the rows behind it.

use super::layout::{Tab, dollars, number, page, seconds};
use super::lists::DAY;
use super::table::Column::{Number, Text};
use super::table::{link, table, text};
use super::{Admin, PageError, chart, of_store};
use crate::auth::password::now;
use crate::router::AppState;
use crate::routes::times::iso_day;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use store::{AgentUsage, DayUsage, Used};
use wire::UserError;

/// How far back, in an address.
#[derive(Deserialize)]
pub(crate) struct OverviewQuery {
    #[serde(default)]
    days: Days,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum Days {
    #[default]
    #[serde(rename = "7")]
    Seven,
    #[serde(rename = "30")]
    Thirty,
}

/// What was used.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overview {
    /// Days since 1970, UTC; the last one is today.
    pub(super) first_day: i64,
    pub(super) last_day: i64,
    pub(super) total: Used,
    /// Every day, also those on which nothing was used.
    pub(super) days: Vec<DayUsage>,
    pub(super) agents: Vec<AgentUsage>,
}

pub(super) async fn overview(state: &AppState, query: &OverviewQuery, now: i64) -> Result<Overview, UserError> {
    let count = if query.days == Days::Seven { 7 } else { 30 };
    let last_day = now.div_euclid(DAY);
    let first_day = last_day - count + 1;
    let store = &state.composition.store;
    let used = store.used_by_day(first_day, last_day).await.map_err(of_store)?;
    let of_day = |day: i64| DayUsage {
        day,
        used: used.iter().find(|used| used.day == day).map(|used| used.used).unwrap_or_default(),
    };
    Ok(Overview {
        first_day,
        last_day,
        total: store.used(first_day, last_day).await.map_err(of_store)?,
        days: (first_day..=last_day).map(of_day).collect(),
        agents: store.used_by_agent(first_day, last_day).await.map_err(of_store)?,
    })
}

/// `GET /admin`
pub(crate) async fn show(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<OverviewQuery>,
) -> Result<Response, PageError> {
    let seen = overview(&state, &query, now()).await?;
    let range = format!("from={}&to={}", iso_day(seen.first_day * DAY), iso_day(seen.last_day * DAY));
    let values = |value: fn(&Used) -> f64| seen.days.iter().map(|day| Some(value(&day.used))).collect::<Vec<_>>();
    let replies: Vec<_> = seen.days.iter().map(|day| reply(&day.used)).collect();
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
        let date = iso_day(day.day * DAY);
        line(date.clone(), &format!("from={date}&to={date}"), &day.used)
    });
    let agents = seen.agents.iter().map(|agent| {
        let query = format!("{range}&agent={}", crate::routes::accounts::encoded(&agent.agent_id));
        line(agent.agent_id.clone(), &query, &agent.used)
    });
    let content = view! {
        <nav class="cw-admin-pager" aria-label="Period">{spans}</nav>
        {totals(&seen.total, &range)}
        <div class="cw-admin-charts">{charts}</div>
        <section class="cw-account-part" aria-labelledby="agents">
            <h2 id="agents">"By agent"</h2>
            {sums("Agent", agents)}
        </section>
        <section class="cw-account-part" aria-labelledby="days">
            <h2 id="days">"By day (UTC)"</h2>
            {sums("Day", days)}
        </section>
    };
    Ok(page(&admin, Tab::Overview, StatusCode::OK, "Overview", content))
}

fn tokens(used: &Used) -> f64 {
    used.input_tokens + used.output_tokens
}

/// How long a reply takes on average, in milliseconds; none where no model was asked.
fn reply(used: &Used) -> Option<f64> {
    (used.steps > 0).then(|| used.whole_ms / used.steps as f64)
}

/// How long it takes to the first word of a reply.
fn first_part(used: &Used) -> Option<f64> {
    (used.steps > 0).then(|| used.first_part_ms / used.steps as f64)
}

/// A time, or a dash where there is none.
fn time(ms: Option<f64>) -> String {
    ms.map_or_else(|| "–".to_owned(), seconds)
}

fn totals(used: &Used, range: &str) -> impl IntoView + use<> {
    let of = |more: &str| format!("/admin/conversations?{range}{more}");
    let figures = [
        ("Messages", number(used.messages as f64), of("")),
        ("Users", number(used.users as f64), "/admin/users".to_owned()),
        ("Tokens", number(tokens(used)), of("")),
        ("Cost", dollars(used.cost_usd), of("&sort=cost")),
        ("Errors", number(used.failures as f64), of("&errors=1")),
        ("Time to first word", time(first_part(used)), of("")),
        ("Reply time", time(reply(used)), of("")),
    ];
    let figure = |(name, value, path): (&'static str, String, String)| {
        view! { <div><dt>{name}</dt><dd><a href=path>{value}</a></dd></div> }
    };
    view! { <dl class="cw-admin-figures">{figures.map(figure).collect_view()}</dl> }
}

/// The sums of a day or of an agent, each leading to the conversations behind it.
fn line(name: String, query: &str, used: &Used) -> [AnyView; 7] {
    let of = |more: &str| format!("/admin/conversations?{query}{more}");
    [
        text(name),
        link(of(""), number(used.messages as f64)),
        link(of(""), number(used.users as f64)),
        link(of(""), number(tokens(used))),
        link(of("&sort=cost"), dollars(used.cost_usd)),
        link(of("&errors=1"), number(used.failures as f64)),
        reply(used).map_or_else(|| text(""), |reply| link(of(""), seconds(reply))),
    ]
}

fn sums(first: &'static str, lines: impl Iterator<Item = [AnyView; 7]>) -> AnyView {
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
    fn times_without_a_reply_are_blank() {
        let none = Used::default();
        assert_eq!((time(reply(&none)), time(first_part(&none))), ("–".to_owned(), "–".to_owned()));
        let used = Used { steps: 2, whole_ms: 3_000.0, first_part_ms: 400.0, ..Used::default() };
        assert_eq!((time(reply(&used)), time(first_part(&used))), ("1.5 s".to_owned(), "0.2 s".to_owned()));
        let html = line("2026-11-23".to_owned(), "", &none).map(|cell| cell.to_html()).join("|");
        assert!(html.ends_with("|–") && !html.contains("0.0 s"), "{html}");
    }
}
