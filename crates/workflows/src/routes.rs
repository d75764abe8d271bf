//! The routes for programs and pages.

use crate::service::{
    self, Answer, CurrentConfig, DecideRequest, RerunRequest, RetryRequest, RunDetail, StartRequest, Viewer, may_start,
};
use crate::store::{self, RunRow, TaskRow};
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, SentQuery, valid_json, valid_query};
use workflow_definition::{Workflow, Workflows};

/// The most entries of a page.
const PAGE: u32 = 100;

/// The group in the OpenAPI document.
const WORKFLOWS: Tag = Tag {
    name: "workflows",
    description: "Runs of workflows, and the questions that they ask people. Runs belong to the user who started them. Scope `endpoints`.",
    access: Access::Users { scope: Some(KeyScope::Endpoints) },
};

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&WORKFLOWS)
        .get("/api/workflows", list_workflows, "List the workflows that the caller may start")
        .post("/api/workflows/{id}/runs", start, "Start a run")
        .get("/api/workflows/runs", list_runs, "List the caller's runs")
        .get("/api/workflows/runs/{id}", show, "Get a run with its steps and questions")
        .post("/api/workflows/runs/{id}/stop", stop, "Stop a run")
        .post("/api/workflows/runs/{id}/retry", retry, "Continue a run that has ended")
        .post("/api/workflows/runs/{id}/rerun", rerun, "Start a new run with the input of a run, or with a changed one")
        .post("/api/workflows/runs/{id}/decide", decide, "Decide about a step whose outcome is unknown")
        .get("/api/workflows/tasks", list_tasks, "List the open questions that the caller may answer")
        .post("/api/workflows/tasks/{id}", answer, "Answer a question")
        .map(|router| router.with_state(context))
}

/// A workflow that the caller may start.
#[derive(Serialize, JsonSchema)]
struct WorkflowItem {
    /// Its id.
    id: String,
    /// Its title.
    title: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The JSON Schema of its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Map<String, Value>>,
    /// The version of its definition.
    version: String,
}

/// The workflows.
#[derive(Serialize, JsonSchema)]
struct WorkflowItems {
    items: Vec<WorkflowItem>,
}

/// The query of a list.
#[derive(Default, Deserialize, JsonSchema)]
struct PageQuery {
    /// The cursor: `next` of the page before.
    after: Option<String>,
}

/// The query of the list of runs.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WorkflowRunsQuery")]
struct RunsQuery {
    /// The cursor: `next` of the page before.
    after: Option<String>,
    /// Only the runs of this workflow.
    workflow_id: Option<String>,
}

/// Runs, newest first.
#[derive(Serialize, JsonSchema)]
struct RunItems {
    items: Vec<RunRow>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Questions, oldest first.
#[derive(Serialize, JsonSchema)]
struct TaskItems {
    items: Vec<TaskRow>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn list_workflows(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<WorkflowItems>, HttpError> {
    let config = context.current.config();
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    let items = all.iter().filter(|workflow| may_start(workflow, &caller)).map(|workflow| WorkflowItem {
        id: workflow.id.0.clone(),
        title: workflow.title().to_owned(),
        description: workflow.description.clone(),
        input: workflow.input.clone(),
        version: workflow.version(),
    });
    Ok(Json(WorkflowItems { items: items.collect() }))
}

async fn start(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<StartRequest>,
) -> Result<Created<RunRow>, HttpError> {
    let request = valid_json(request)?;
    let workflow = service::workflow(&context.current.config(), &caller, &id)?;
    Ok(Created(service::start(&(&context).into(), &caller, workflow, request).await?))
}

async fn list_runs(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    query: SentQuery<RunsQuery>,
) -> Result<Json<RunItems>, HttpError> {
    let RunsQuery { after, workflow_id } = valid_query(query)?;
    let before = after.unwrap_or_else(|| crate::AFTER_ALL.to_owned());
    let rows = store::runs_of(&context.store, &caller.user_id, &before, workflow_id.as_deref(), PAGE + 1).await;
    let mut items = rows?;
    let next = truncate(&mut items, |run| &run.id);
    Ok(Json(RunItems { items, next }))
}

async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<RunDetail>, HttpError> {
    Ok(Json(service::detail(&(&context).into(), Viewer::Owner(&caller), &id).await?))
}

async fn stop(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    service::stop(&(&context).into(), Viewer::Owner(&caller), &id, None).await?;
    Ok(NoContent)
}

async fn retry(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<RetryRequest>,
) -> Result<NoContent, HttpError> {
    let request = valid_json(request)?;
    service::retry(&(&context).into(), Viewer::Owner(&caller), &id, request, current(&context), None).await?;
    Ok(NoContent)
}

async fn rerun(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<RerunRequest>,
) -> Result<Created<RunRow>, HttpError> {
    let request = valid_json(request)?;
    let (config, who) = (context.current.config(), (Viewer::Owner(&caller), &caller));
    Ok(Created(service::rerun(&(&context).into(), who, &config, &id, request, None).await?))
}

async fn decide(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<DecideRequest>,
) -> Result<NoContent, HttpError> {
    let request = valid_json(request)?;
    service::decide(&(&context).into(), Viewer::Owner(&caller), &id, request, None).await?;
    Ok(NoContent)
}

async fn list_tasks(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    query: SentQuery<PageQuery>,
) -> Result<Json<TaskItems>, HttpError> {
    let after = valid_query(query)?.after.unwrap_or_default();
    let mut items = store::tasks_for(&context.store, &caller, &after, PAGE + 1).await?;
    let next = truncate(&mut items, |task| &task.id);
    Ok(Json(TaskItems { items, next }))
}

async fn answer(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<Answer>,
) -> Result<Json<TaskRow>, HttpError> {
    let request = valid_json(request)?;
    Ok(Json(service::answer(&(&context).into(), &caller, &id, request).await?))
}

/// Returns what the config in use says when a run continues.
pub(crate) fn current(context: &Context) -> CurrentConfig<impl Fn(&str) -> Option<Workflow> + Send + 'static> {
    let config = context.current.config();
    let workflow = move |id: &str| config.section::<Workflows>()?.get(id).cloned();
    CurrentConfig { workflow, operators: context.current.operators() }
}

/// Cuts a list to a page and returns the cursor of the next one.
fn truncate<T>(items: &mut Vec<T>, id: impl Fn(&T) -> &str) -> Option<String> {
    let has_more = items.len() > PAGE as usize;
    items.truncate(PAGE as usize);
    items.last().filter(|_| has_more).map(|last| id(last).to_owned())
}
