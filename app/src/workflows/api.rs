//! The server functions of the blocks for workflows.

use crate::api::ApiError;
use crate::api::transport::codec::{Json, NoContent};
use crate::prelude::*;
use serde_json::{Map, Value};
use wire::api::SendRequest;
use wire::workflow::{RunChange, RunItem, RunList, RunProgress, RunView, TaskAnswer, TaskList, WorkflowItem};

/// Returns a page of the open questions that the caller may answer, oldest first.
#[server(prefix = "/ui", endpoint = "workflow-tasks", input = Json, output = Json)]
pub async fn workflow_tasks(
    /// `next` of the previous page; absent for the first page.
    after: Option<String>,
) -> Result<TaskList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.tasks(caller, after).await?)
}

/// Answers a question.
#[server(prefix = "/ui", endpoint = "answer-workflow-task", input = Json, output = Json)]
pub async fn answer_workflow_task(
    /// The question.
    id: String,
    /// The answer.
    answer: TaskAnswer,
) -> Result<NoContent, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.workflows.answer_task(caller, id, answer).await?;
    Ok(NoContent)
}

/// Returns a page of the caller's runs, newest first; with the first page, also the workflows that
/// they may start.
#[server(prefix = "/ui", endpoint = "workflow-runs", input = Json, output = Json)]
pub async fn workflow_runs(
    /// `next` of the previous page; absent for the first page.
    after: Option<String>,
    /// The workflow; absent for the runs of all.
    workflow: Option<String>,
) -> Result<RunList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.runs(caller, after, workflow).await?)
}

/// Returns a run with its steps.
#[server(prefix = "/ui", endpoint = "workflow-run", input = Json, output = Json)]
pub async fn workflow_run(
    /// The run.
    id: String,
) -> Result<RunView, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.run(caller, id).await?)
}

/// Returns how far a run is that belongs to a conversation, with the questions that wait for the caller.
#[server(prefix = "/ui", endpoint = "workflow-progress", input = Json, output = Json)]
pub async fn workflow_progress(
    /// The run.
    id: String,
) -> Result<RunProgress, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.progress(caller, id).await?)
}

/// Starts a run.
#[server(prefix = "/ui", endpoint = "start-workflow", input = Json, output = Json)]
pub async fn start_workflow(
    /// The workflow.
    id: String,
    /// The input.
    input: Map<String, Value>,
) -> Result<RunItem, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.start(caller, id, input).await?)
}

/// Returns a workflow that the caller may start, with the schema of its input.
#[server(prefix = "/ui", endpoint = "startable-workflow", input = Json, output = Json)]
pub async fn startable_workflow(
    /// The workflow.
    id: String,
) -> Result<WorkflowItem, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.startable(caller, id).await?)
}

/// Starts a run of a workflow of the chat's agent in a conversation, which is created if it does not exist.
#[server(prefix = "/ui", endpoint = "start-workflow-in-chat", input = Json, output = Json)]
pub async fn start_workflow_in_chat(
    /// The request with a new message, whose id identifies repetitions.
    request: SendRequest,
    /// The workflow.
    id: String,
    /// The input.
    input: Map<String, Value>,
) -> Result<NoContent, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.workflows.start_in_chat(caller, request, id, input).await?;
    Ok(NoContent)
}

/// Starts a new run with the definition of a run as it is now.
#[server(prefix = "/ui", endpoint = "rerun-workflow", input = Json, output = Json)]
pub async fn rerun_workflow(
    /// The run.
    id: String,
    /// The input of the new one.
    input: Map<String, Value>,
) -> Result<RunItem, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.workflows.rerun(caller, id, input).await?)
}

/// Changes a run.
#[server(prefix = "/ui", endpoint = "change-workflow-run", input = Json, output = Json)]
pub async fn change_workflow_run(
    /// The run.
    id: String,
    /// The change.
    change: RunChange,
) -> Result<NoContent, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.workflows.change_run(caller, id, change).await?;
    Ok(NoContent)
}
