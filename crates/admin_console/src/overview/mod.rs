//! The overview of the usage in the last days. Every number links to the conversations behind it.

mod views;

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
use store::{AgentUsage, DayRatings, DayUsage, ModelUsage, OwnerUsage, Ratings, UsageFilter, UsageTotals};
use web::admin::filters::{Choice, DAY_MS, field, field_with_suggestions, non_empty, select_field, user_id};
use web::admin::{ADMINISTRATION, Admin, PageError, START_PATH, UserNames, from_store_error, page};
use web::html::{link, text};
use web::openapi::ApiRouter;
use web::times::iso_day;
use web::{HttpError, query_encoded, valid_query};
use wire::UserError;

use views::{charts, model_table, sum, totals, usage_row, usage_table};
pub(crate) use views::{reply_ms, signed_dollars};

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
    /// The ratings of each day that has any.
    ratings: Vec<DayRatings>,
    /// All ratings of the period before.
    #[serde(skip)]
    previous_ratings: Ratings,
    /// The most expensive agents, at most 50.
    agents: Vec<AgentUsage>,
    /// The most expensive models, at most 50.
    models: Vec<ModelUsage>,
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
    let rated_before = store.ratings_by_day(&before).await.map_err(from_store_error)?;
    Ok(Overview {
        first_day,
        last_day,
        total: store.total_usage(&filter).await.map_err(from_store_error)?,
        previous: store.total_usage(&before).await.map_err(from_store_error)?,
        days: (first_day..=last_day).map(of_day).collect(),
        ratings: store.ratings_by_day(&filter).await.map_err(from_store_error)?,
        previous_ratings: sum(&rated_before),
        agents: store.usage_by_agent(&filter).await.map_err(from_store_error)?,
        models: store.usage_by_model(&filter).await.map_err(from_store_error)?,
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
        <div class="cw-admin-charts">{charts(&seen.days, &seen.ratings)}</div>
        <section class="cw-account-part" aria-labelledby="agents">
            <h2 id="agents">"By agent"</h2>
            {usage_table("Agent", agents)}
        </section>
        <section class="cw-account-part" aria-labelledby="models">
            <h2 id="models">"By model"</h2>
            {model_table(&seen.models)}
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

/// `GET /api/admin/overview?days=7|30|90`
async fn show_api(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<OverviewQuery>, QueryRejection>,
) -> Result<Json<Overview>, HttpError> {
    Ok(Json(overview(&state, &valid_query(query)?, now_millis()).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_period_and_the_filter() {
        let query = OverviewQuery { days: Days::Ninety, agent: Some("a b".to_owned()), user: Some(" ".to_owned()) };
        assert_eq!(conversation_filter(&query), "&agent=a+b");
        assert_eq!(overview_path(&query, query.agent.as_deref(), Some("ada")), "/admin?days=90&agent=a+b&user=ada");
    }
}
