//! The runs of agents without a conversation, of all users.

use crate::reasons::reason_text;
use crate::state::ConsoleState;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{AdminInvocation, InvocationFilter, Store, StoreError};
use web::admin::filters::{Choice, day_end, day_start, field, non_empty, period_fields, select_field, user_id};
use web::admin::list::{self, Cell, Column, List, ListPage, PageRequest};
use web::admin::{MAX_MENU_COUNT, MenuCount, from_store_error, user_view};
use web::html::{dollars, text};
use web::openapi::ApiRouter;
use wire::UserError;
use wire::invoke::InvocationStatus;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes::<AgentRunList>()
}

/// Counts the runs that wait for a decision, for the menu.
///
/// # Errors
/// The database failed.
pub async fn count_waiting_runs(store: &Store) -> Result<MenuCount, StoreError> {
    let count = store.count_waiting_invocations(MAX_MENU_COUNT + 1).await?;
    Ok(MenuCount { path: AgentRunList::PATH, count: u32::try_from(count).unwrap_or_default() })
}

struct AgentRunList;

type RunColumn = Column<AdminInvocation>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "AgentRunListQuery")]
struct AgentRunQuery {
    /// The name or the id of the user for whom they run.
    user: Option<String>,
    /// The id of an agent.
    agent: Option<String>,
    /// `all`, `pending`, `running`, `waiting`, `succeeded`, `failed`, `stopped` or `timeout`.
    #[serde(default)]
    state: StateQuery,
    /// The first day on which they were requested, in UTC, such as `2026-11-21`.
    from: Option<String>,
    /// The last day.
    to: Option<String>,
}

/// The states of the listed runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AgentRunStateQuery")]
enum StateQuery {
    /// All.
    #[default]
    All,
    /// Runs that a job is going to execute.
    Pending,
    /// Runs in progress.
    Running,
    /// Runs that wait for a decision about a call.
    Waiting,
    /// Runs with an answer.
    Succeeded,
    /// Runs that have failed.
    Failed,
    /// Runs that were stopped.
    Stopped,
    /// Runs that exceeded their time limit.
    Timeout,
}

impl StateQuery {
    fn status(self) -> Option<InvocationStatus> {
        Some(match self {
            Self::All => return None,
            Self::Pending => InvocationStatus::Pending,
            Self::Running => InvocationStatus::Running,
            Self::Waiting => InvocationStatus::Waiting,
            Self::Succeeded => InvocationStatus::Succeeded,
            Self::Failed => InvocationStatus::Failed,
            Self::Stopped => InvocationStatus::Stopped,
            Self::Timeout => InvocationStatus::Timeout,
        })
    }
}

impl Choice for StateQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::All, "all", "All"),
        (Self::Pending, "pending", "Pending"),
        (Self::Running, "running", "Running"),
        (Self::Waiting, "waiting", "Waiting"),
        (Self::Succeeded, "succeeded", "Succeeded"),
        (Self::Failed, "failed", "Failed"),
        (Self::Stopped, "stopped", "Stopped"),
        (Self::Timeout, "timeout", "Timeout"),
    ];
}

fn status_name(status: InvocationStatus) -> &'static str {
    let is_it = |(state, ..): &&(StateQuery, _, _)| state.status() == Some(status);
    StateQuery::ALL.iter().find(is_it).map_or("", |(_, name, _)| *name)
}

impl List for AgentRunList {
    type State = ConsoleState;
    type Query = AgentRunQuery;
    type Row = AdminInvocation;

    const PATH: &'static str = "/admin/agent-runs";
    const SUMMARY: &'static str = "List the runs of agents without a conversation, of all users";
    const TITLE: &'static str = "Agent runs";
    const EMPTY: &'static str = "No runs match.";
    const NONE_YET: &'static str = "There are no runs yet. Runs that programs start with POST /api/runs appear here.";
    const COLUMNS: &'static [RunColumn] = &[
        RunColumn::new("Run", "id", |run| Cell::text(&run.id)),
        RunColumn::new("Agent", "agent", |run| Cell::text(&run.agent_id)),
        RunColumn::new("For", "user", |run| Cell::text(&run.owner))
            .shown_as(|run| user_view(&run.owner, run.owner_name.as_deref())),
        RunColumn::in_file("userName", |run| Cell::optional(run.owner_name.as_deref())),
        RunColumn::new("State", "state", |run| Cell::text(status_name(run.status))),
        RunColumn::new("End", "reason", |run| Cell::optional(run.reason.map(wire::EndReason::name)))
            .shown_as(|run| text(run.reason.map(reason_text).unwrap_or_default())),
        RunColumn::new("Error", "error", |run| Cell::optional(run.error.as_deref())),
        RunColumn::new("Model requests", "requests", |run| Cell::count(run.requests)).aligned_right(),
        RunColumn::new("Tokens", "tokens", |run| Cell::Number(Some(run.tokens))).aligned_right(),
        RunColumn::new("Cost", "costUsd", |run| Cell::Number(Some(run.cost_usd)))
            .shown_as(|run| text(dollars(run.cost_usd)))
            .aligned_right(),
        RunColumn::new("Requested (UTC)", "created", |run| Cell::time(run.created_at)),
        RunColumn::new("Ended (UTC)", "ended", |run| Cell::time(run.ended_at)),
    ];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &AgentRunQuery,
        page: &PageRequest,
    ) -> Result<ListPage<AdminInvocation>, UserError> {
        let filter = InvocationFilter {
            owner: user_id(&state.store, query.user.as_deref()).await?,
            agent_id: non_empty(query.agent.as_deref()),
            status: query.state.status(),
            from: day_start(query.from.as_deref())?,
            to: day_end(query.to.as_deref())?,
        };
        let found = state.store.all_invocations(filter, page.limit(), page.cursor()?).await;
        Ok(page.page(found.map_err(from_store_error)?))
    }

    fn filters(_: &ConsoleState, query: &AgentRunQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("user", "User (name or id)", "search", query.user.as_deref())}
                {field("agent", "Agent", "search", query.agent.as_deref())}
                {select_field("state", "State", query.state)}
                {period_fields(query.from.as_deref(), query.to.as_deref())}
            }
            .into_any(),
        )
    }
}
