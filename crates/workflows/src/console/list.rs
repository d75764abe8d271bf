//! The list of runs.

use crate::store::{self, RunFilter, RunRow};
use ::store::Store;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::admin::filters::{Choice, day_end, day_start, field, non_empty, period_fields, select_field, user_id};
use web::admin::list::{Cell, Column, List, ListPage, PageRequest};
use web::admin::{UserNames, from_store_error, user_view};
use web::html::{link, short_id, text};
use wire::UserError;

pub(crate) struct RunList;

type RunColumn = Column<RunItem>;

/// A run in the list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunItem {
    #[serde(flatten)]
    run: RunRow,
    #[serde(skip)]
    owner_name: Option<String>,
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct RunQuery {
    /// The id of a workflow.
    workflow: Option<String>,
    /// The name or the id of the user who started them.
    user: Option<String>,
    /// `all`, `running`, `waiting`, `undecided`, `done`, `failed` or `stopped`.
    #[serde(default)]
    state: StateQuery,
    /// The first day on which they started, in UTC, such as `2026-11-21`.
    from: Option<String>,
    /// The last day.
    to: Option<String>,
}

/// The states of the listed runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StateQuery {
    /// All.
    #[default]
    All,
    /// Those that execute steps.
    Running,
    /// Those that wait.
    Waiting,
    /// Those with a step that waits for a decision, because it is not known what it did.
    Undecided,
    /// Those with an output.
    Done,
    /// Those that have failed.
    Failed,
    /// Those that were stopped.
    Stopped,
}

impl Choice for StateQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::All, "all", "All"),
        (Self::Running, "running", "Running"),
        (Self::Waiting, "waiting", "Waiting"),
        (Self::Undecided, "undecided", "Undecided"),
        (Self::Done, "done", "Done"),
        (Self::Failed, "failed", "Failed"),
        (Self::Stopped, "stopped", "Stopped"),
    ];
}

/// Returns why a run ended without an output, in one line.
pub(super) fn cause(run: &RunRow) -> String {
    let Some(error) = &run.error else { return String::new() };
    match (error.kind.as_str(), error.step.as_str()) {
        ("limit", "") => format!("Limit reached: {}", error.message),
        (_, "") => error.message.clone(),
        (_, step) => format!("{step}: {}", error.message),
    }
}

impl List for RunList {
    type State = Context;
    type Query = RunQuery;
    type Row = RunItem;

    const PATH: &'static str = "/admin/workflows";
    const SUMMARY: &'static str = "List the runs of workflows";
    const TITLE: &'static str = "Workflows";
    const EMPTY: &'static str = "No runs match.";
    const NONE_YET: &'static str =
        "No workflow has run yet. Runs appear here when users, programs or triggers start a workflow.";
    const COLUMNS: &'static [RunColumn] = &[
        RunColumn::new("Run", "id", |item| Cell::text(&item.run.id))
            .shown_as(|item| link(format!("{}/{}", Self::PATH, item.run.id), short_id(&item.run.id))),
        RunColumn::new("Workflow", "workflow", |item| Cell::text(&item.run.workflow_id)),
        RunColumn::new("Started by", "owner", |item| Cell::text(&item.run.owner))
            .shown_as(|item| user_view(&item.run.owner, item.owner_name.as_deref())),
        RunColumn::new("State", "state", |item| Cell::text(item.run.state.name())),
        RunColumn::new("Steps", "steps", |item| Cell::count(item.run.steps.into())).aligned_right(),
        RunColumn::new("Cost", "costUsd", |item| Cell::Number(item.run.used.known_cost()))
            .shown_as(|item| text(item.run.used.cost()))
            .aligned_right(),
        RunColumn::new("Cause", "cause", |item| Cell::text(cause(&item.run))),
        RunColumn::new("Started (UTC)", "created", |item| Cell::time(item.run.created_at)),
        RunColumn::new("Ended (UTC)", "ended", |item| Cell::time(item.run.ended_at)),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(context: &Context, query: &RunQuery, page: &PageRequest) -> Result<ListPage<RunItem>, UserError> {
        let before = page.after.clone().unwrap_or_else(|| crate::AFTER_ALL.to_owned());
        let state = StateQuery::ALL.iter().find(|(state, ..)| *state == query.state && *state != StateQuery::All);
        let state = state.map(|(_, name, _)| *name);
        let filter = RunFilter {
            state,
            workflow: non_empty(query.workflow.as_deref()),
            owner: user_id(&context.store, query.user.as_deref()).await?,
            from: day_start(query.from.as_deref())?,
            to: day_end(query.to.as_deref())?,
        };
        let found = store::list(&context.store, &before, filter, page.limit()).await;
        let page = page.page_by(found.map_err(from_store_error)?, |run| run.id.clone());
        let names = UserNames::load(&context.store, page.items.iter().map(|run| run.owner.as_str())).await?;
        Ok(page.map(|run| RunItem { owner_name: names.get(&run.owner).map(str::to_owned), run }))
    }

    fn filters(_: &Context, query: &RunQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("workflow", "Workflow", "search", query.workflow.as_deref())}
                {field("user", "Started by", "search", query.user.as_deref())}
                {select_field("state", "State", query.state)}
                {period_fields(query.from.as_deref(), query.to.as_deref())}
            }
            .into_any(),
        )
    }
}
