//! The list of questions of all users.

use crate::store::{self, TaskFilter, TaskRow};
use ::store::Store;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::filters::{day_end, day_start, field, non_empty, period_fields, user_id};
use web::admin::from_store_error;
use web::admin::list::{Cell, Column, List, ListPage, PageRequest};
use web::html::link;
use wire::UserError;
use wire::hidden_characters::{TextKind, text_with_code_points};

pub(crate) struct TaskList;

type TaskColumn = Column<TaskRow>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct TaskQuery {
    /// The id of a workflow.
    workflow: Option<String>,
    /// The name or the id of the user who started the run.
    user: Option<String>,
    /// The first day on which they were asked, in UTC, such as `2026-11-21`.
    from: Option<String>,
    /// The last day.
    to: Option<String>,
}

impl List for TaskList {
    type State = Context;
    type Query = TaskQuery;
    type Row = TaskRow;

    const PATH: &'static str = "/admin/workflow-tasks";
    const SUMMARY: &'static str = "List the open questions of workflows";
    const TITLE: &'static str = "Workflow tasks";
    const EMPTY: &'static str = "No workflow waits for a person.";
    const NONE_YET: &'static str =
        "No workflow waits for a person. The questions that workflows ask appear here until they are answered.";
    const COLUMNS: &'static [TaskColumn] = &[
        TaskColumn::in_file("id", |task| Cell::text(&task.id)),
        TaskColumn::new("Question", "title", |task| Cell::text(&task.title)).shown_as(|task| {
            link(format!("{}/{}", Self::PATH, task.id), text_with_code_points(&task.title, TextKind::Prose))
        }),
        TaskColumn::new("Workflow", "workflow", |task| Cell::text(&task.workflow_id)),
        TaskColumn::new("Step", "path", |task| Cell::text(&task.path)),
        TaskColumn::new("Asked (UTC)", "created", |task| Cell::time(task.created_at)),
        TaskColumn::new("Reminders", "reminders", |task| Cell::count(task.reminders)).aligned_right(),
        TaskColumn::new("Reminded (UTC)", "reminded", |task| Cell::time(task.reminded_at)),
        TaskColumn::new("Due (UTC)", "due", |task| Cell::time(task.due_at)),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(context: &Context, query: &TaskQuery, page: &PageRequest) -> Result<ListPage<TaskRow>, UserError> {
        let after = page.after.clone().unwrap_or_default();
        let filter = TaskFilter {
            workflow: non_empty(query.workflow.as_deref()),
            owner: user_id(&context.store, query.user.as_deref()).await?,
            from: day_start(query.from.as_deref())?,
            to: day_end(query.to.as_deref())?,
        };
        let found = store::open_tasks(&context.store, &after, filter, page.limit()).await.map_err(from_store_error)?;
        Ok(page.page_by(found, |task| task.id.clone()))
    }

    fn filters(_: &Context, query: &TaskQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("workflow", "Workflow", "search", query.workflow.as_deref())}
                {field("user", "Started by", "search", query.user.as_deref())}
                {period_fields(query.from.as_deref(), query.to.as_deref())}
            }
            .into_any(),
        )
    }
}
