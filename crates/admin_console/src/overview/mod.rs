//! The overview of the usage in the last days. Every number links to the conversations behind it.

mod views;

use crate::state::ConsoleState;
use auth::groups::group_name_key;
use auth::password::now_millis;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{AgentUsage, DayRatings, DayUsage, GroupUsage, ModelUsage, OwnerUsage, Store, UsageFilter, UsageTotals};
use web::admin::filters::{Choice, DAY_MS, field, field_with_suggestions, non_empty, select_field, user_id};
use web::admin::{ADMINISTRATION, Admin, PageError, START_PATH, UserNames, from_store_error, page};
use web::html::{account_part, link, text};
use web::openapi::ApiRouter;
use web::times::iso_day;
use web::{HttpError, SentQuery, query_encoded, valid_query};
use wire::UserError;

use views::{charts, model_table, totals, usage_row, usage_table};
pub(crate) use views::{reply_ms, signed_dollars};

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/overview", show_api, "Get the usage of the last days")
        .with_pages(Router::new().route("/admin", get(show)))
}

/// The query of the overview: the period, and whose usage.
#[derive(Clone, Default, Deserialize, JsonSchema)]
struct OverviewQuery {
    /// `7`, `30` or `90`.
    #[serde(default)]
    days: Days,
    /// Only this agent.
    agent: Option<String>,
    /// Only this user: the name or the id.
    user: Option<String>,
    /// Only the members of this group, as it is now: the name or the id.
    group: Option<String>,
    /// Only requests to this model. Messages, errors and ratings belong to no model and are left out.
    model: Option<String>,
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
    /// Every day of the period before.
    previous_days: Vec<DayUsage>,
    /// The ratings of each day that has any.
    ratings: Vec<DayRatings>,
    /// The ratings of the period before.
    #[serde(skip)]
    previous_ratings: Vec<DayRatings>,
    /// Whether this is the usage of one model.
    #[serde(skip)]
    is_of_model: bool,
    /// The most expensive agents, at most 50.
    agents: Vec<AgentUsage>,
    /// The most expensive models, at most 50.
    models: Vec<ModelUsage>,
    /// The most expensive users, at most 50.
    users: Vec<OwnerUsage>,
    /// The most expensive groups, at most 50. A user in several groups counts in each of them.
    groups: Vec<GroupUsage>,
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
        group_id: group_id(store, query.group.as_deref()).await?,
        model: non_empty(query.model.as_deref()),
    };
    let before = UsageFilter { first_day: first_day - count, last_day: first_day - 1, ..filter.clone() };
    let is_of_model = filter.model.is_some();
    let ratings_by_day = async |filter: &UsageFilter| {
        if is_of_model { Ok(Vec::new()) } else { store.ratings_by_day(filter).await }
    };
    // The database reads them at the same time: on a server with many runs, each takes some milliseconds.
    let (ratings, previous_ratings, total, previous, days, previous_days, agents, models, users, groups) =
        tokio::try_join!(
            ratings_by_day(&filter),
            ratings_by_day(&before),
            store.total_usage(&filter),
            store.total_usage(&before),
            store.usage_by_day(&filter),
            store.usage_by_day(&before),
            store.usage_by_agent(&filter),
            store.usage_by_model(&filter),
            store.usage_by_user(&filter),
            store.usage_by_group(&filter),
        )
        .map_err(from_store_error)?;
    Ok(Overview {
        first_day,
        last_day,
        total,
        previous,
        days: every_day(&filter, &days),
        previous_days: every_day(&before, &previous_days),
        ratings,
        previous_ratings,
        is_of_model,
        agents,
        models,
        users,
        groups,
    })
}

/// Returns the usage of each day of a period, also of those without any.
fn every_day(filter: &UsageFilter, used: &[DayUsage]) -> Vec<DayUsage> {
    let on = |day: i64| used.iter().find(|used| used.day == day).map(|used| used.totals).unwrap_or_default();
    (filter.first_day..=filter.last_day).map(|day| DayUsage { day, totals: on(day) }).collect()
}

/// Returns the id of a group that is given by its name or id; an unknown one has no members.
async fn group_id(store: &Store, text: Option<&str>) -> Result<Option<String>, UserError> {
    let Some(text) = non_empty(text) else { return Ok(None) };
    let (groups, key) = (store.groups().await.map_err(from_store_error)?, group_name_key(&text));
    let named = groups.into_iter().find(|group| group.id == text || group_name_key(&group.name) == key);
    Ok(Some(named.map_or(text, |group| group.id)))
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
    let range = |of: &str| chosen.as_ref().map(|chosen| format!("{of}{chosen}"));
    let days = seen.days.iter().rev().map(|day| {
        let date = iso_day(day.day * DAY_MS);
        usage_row(text(date.clone()), range(&format!("from={date}&to={date}")).as_deref(), &day.totals)
    });
    let agents = seen.agents.iter().map(|used| {
        let path = overview_path(&OverviewQuery { agent: Some(used.agent_id.clone()), ..query.clone() });
        let of =
            format!("{period}{}&agent={}", parameter("owner", query.user.as_deref()), query_encoded(&used.agent_id));
        usage_row(link(path, &used.agent_id), chosen.is_some().then_some(of).as_deref(), &used.totals)
    });
    let users = seen.users.iter().map(|used| {
        let path = overview_path(&OverviewQuery { user: Some(used.user_id.clone()), ..query.clone() });
        let of =
            format!("{period}{}&owner={}", parameter("agent", query.agent.as_deref()), query_encoded(&used.user_id));
        let name = names.get(&used.user_id).unwrap_or(&used.user_id);
        usage_row(link(path, name), chosen.is_some().then_some(of).as_deref(), &used.totals)
    });
    let groups = seen.groups.iter().map(|used| {
        let path = overview_path(&OverviewQuery { group: Some(used.name.clone()), ..query.clone() });
        usage_row(link(path, &used.name), None, &used.totals)
    });
    let groups = (!seen.groups.is_empty()).then(|| {
        view! {
            <section class="cw-account-part" aria-labelledby="groups">
                <h2 id="groups">"By group"</h2>
                <p class="cw-account-note">"A user in several groups counts in each of them."</p>
                {usage_table("Group", groups)}
            </section>
        }
    });
    let model_path = |model: &str| overview_path(&OverviewQuery { model: Some(model.to_owned()), ..query.clone() });
    let content = view! {
        {first_steps(&state)}
        {filters(&state, &query).await?}
        {totals(&seen, range(&period).as_deref(), query.days.count())}
        <div class="cw-admin-charts">{charts(&seen)}</div>
        {account_part("agents", "By agent", usage_table("Agent", agents))}
        {account_part("models", "By model", model_table(&seen.models, model_path))}
        {account_part("users", "By user", usage_table("User", users))}
        {groups}
        {account_part("days", "By day (UTC)", usage_table("Day", days))}
    };
    Ok(page(&admin, "/admin", StatusCode::OK, "Overview", content))
}

/// Returns a parameter of a query with a leading `&`; nothing without a value.
fn parameter(name: &str, value: Option<&str>) -> String {
    non_empty(value).map(|value| format!("&{name}={}", query_encoded(&value))).unwrap_or_default()
}

/// Returns the parameters with which the list of conversations shows those of the chosen agent and user; `None` if a
/// group or a model was chosen, because the list cannot be filtered by these.
fn conversation_filter(query: &OverviewQuery) -> Option<String> {
    let is_possible = [&query.group, &query.model].iter().all(|chosen| non_empty(chosen.as_deref()).is_none());
    is_possible.then(|| parameter("agent", query.agent.as_deref()) + &parameter("owner", query.user.as_deref()))
}

/// Returns the address of the overview with a filter.
fn overview_path(query: &OverviewQuery) -> String {
    let chosen = [("agent", &query.agent), ("user", &query.user), ("group", &query.group), ("model", &query.model)];
    let chosen = chosen.map(|(name, value)| parameter(name, value.as_deref())).concat();
    format!("/admin?days={}{chosen}", query.days.count())
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

async fn filters(state: &ConsoleState, query: &OverviewQuery) -> Result<AnyView, UserError> {
    let config = state.host.config();
    let agents = config.agents.keys().cloned().collect::<Vec<_>>();
    let groups = state.store.groups().await.map_err(from_store_error)?.into_iter().map(|group| group.name);
    let groups = groups.collect::<Vec<_>>();
    let has_groups = !groups.is_empty() || query.group.is_some();
    let groups = has_groups.then(|| field_with_suggestions("group", "Group", query.group.as_deref(), groups));
    let view = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Overview" action="/admin">
            {select_field("days", "Period", query.days)}
            {field_with_suggestions("agent", "Agent", query.agent.as_deref(), agents)}
            {field("user", "User (name or id)", "text", query.user.as_deref())}
            {groups}
            {field("model", "Model", "text", query.model.as_deref())}
            <button class="cw-button">"Show"</button>
        </form>
    };
    Ok(view.into_any())
}

/// `GET /api/admin/overview?days=7|30|90&agent&user&group&model`
async fn show_api(
    _: Admin,
    State(state): State<ConsoleState>,
    query: SentQuery<OverviewQuery>,
) -> Result<Json<Overview>, HttpError> {
    Ok(Json(overview(&state, &valid_query(query)?, now_millis()).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_period_and_the_filter() {
        let text = |text: &str| Some(text.to_owned());
        let query =
            OverviewQuery { days: Days::Ninety, agent: text("a b"), user: text(" "), ..OverviewQuery::default() };
        assert_eq!(conversation_filter(&query).as_deref(), Some("&agent=a+b"));
        let of_group = OverviewQuery { user: text("ada"), group: text("R&D"), ..query };
        assert_eq!(overview_path(&of_group), "/admin?days=90&agent=a+b&user=ada&group=R%26D");
        assert_eq!(conversation_filter(&of_group), None);
    }
}
