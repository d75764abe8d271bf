//! What was used over the last days. Every number leads to the rows behind it.

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
    let values = |value: fn(&Used) -> f64| seen.days.iter().map(|day| value(&day.used)).collect::<Vec<_>>();
    let charts = view! {
        {chart::bars("Messages", &values(|used| used.messages as f64), number)}
        {chart::bars("Users", &values(|used| used.users as f64), number)}
        {chart::bars("Tokens", &values(tokens), number)}
        {chart::bars("Cost", &values(|used| used.cost_usd), dollars)}
        {chart::bars("Errors", &values(|used| used.failures as f64), number)}
        {chart::bars("Time of a reply", &values(reply), seconds)}
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
        <nav class="cw-admin-pager" aria-label="How far back">{spans}</nav>
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

/// How long a reply takes, on average.
fn reply(used: &Used) -> f64 {
    if used.steps == 0 { 0.0 } else { used.whole_ms / used.steps as f64 }
}

fn first_part(used: &Used) -> f64 {
    if used.steps == 0 { 0.0 } else { used.first_part_ms / used.steps as f64 }
}

fn totals(used: &Used, range: &str) -> impl IntoView + use<> {
    let of = |more: &str| format!("/admin/conversations?{range}{more}");
    let figures = [
        ("Messages", number(used.messages as f64), of("")),
        ("Users", number(used.users as f64), "/admin/users".to_owned()),
        ("Tokens", number(tokens(used)), of("")),
        ("Cost", dollars(used.cost_usd), of("&sort=cost")),
        ("Errors", number(used.failures as f64), of("&errors=1")),
        ("First word after", seconds(first_part(used)), of("")),
        ("Reply after", seconds(reply(used)), of("")),
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
        link(of(""), seconds(reply(used))),
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
        Number("Reply after"),
    ];
    table(columns, lines, "Nothing was used.")
}
