//! The operations of callers on runs: start, stop, retry, decide about a step, and answer questions. Each
//! change is one transaction, which also wakes the run.

mod answer;
mod assign;
mod change;
mod rerun;
mod retry;

pub(crate) use answer::{Answer, answer};
pub(crate) use assign::assign;
pub(crate) use change::{Action, DecideRequest, decide, stop};
pub(crate) use rerun::{RerunRequest, rerun};
pub(crate) use retry::{CurrentConfig, REPEATED_EFFECTS, RetryRequest, retry};

use crate::engine::wake;
use crate::input;
use crate::store::{self, ConversationLink, MAX_OPEN_RUNS, NewRun, RunCaller, RunRow, StepRow, TaskRow};
use ::store::sql::Db;
use ::store::{AuditEntry, Store, StoreError, append_audit};
use auth::audit_row;
use capability::Context;
use chat::Caller;
use config::Config;
use jobs::{Due, Jobs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use web::admin::from_store_error;
use web::times::now_millis;
use wire::{ErrorCode, UserError};
use workflow_definition::{RunLimits, Workflow, Workflows};

/// The runs of a database, with the queue that drives them.
#[derive(Clone)]
pub(crate) struct Runs {
    pub(crate) store: Store,
    pub(crate) jobs: Jobs,
}

impl From<&Context> for Runs {
    fn from(context: &Context) -> Self {
        Self { store: context.store.clone(), jobs: context.chat.jobs().clone() }
    }
}

/// The body that starts a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartRequest {
    /// The input.
    #[serde(default)]
    pub(crate) input: serde_json::Map<String, Value>,
    /// Limits beside those of the workflow; the stricter ones apply. Those of an administrator replace the
    /// workflow's.
    #[serde(default)]
    pub(crate) limits: RunLimits,
}

/// A run with its steps and questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunDetail {
    #[serde(flatten)]
    pub(crate) run: RunRow,
    /// The steps in the order in which they started.
    #[serde(rename = "stepRecords")]
    pub(crate) steps: Vec<StepRow>,
    /// The questions to people.
    pub(crate) tasks: Vec<TaskRow>,
}

/// Returns whether a caller may start a workflow.
pub(crate) fn may_start(workflow: &Workflow, caller: &Caller) -> bool {
    caller.is_authenticated && workflow.is_for(caller.roles())
}

/// Returns a workflow of the config that a caller may start.
///
/// # Errors
/// 404 for one that does not exist or that the caller may not start.
pub(crate) fn workflow(config: &Config, caller: &Caller, id: &str) -> Result<Workflow, UserError> {
    let found = config.section::<Workflows>().and_then(|all| all.get(id));
    found.filter(|workflow| may_start(workflow, caller)).cloned().ok_or_else(UserError::not_found)
}

/// Starts a run. It is stored when the future resolves.
///
/// # Errors
/// 422 for an invalid input, 429 for too many runs.
pub(crate) async fn start(
    runs: &Runs,
    caller: &Caller,
    workflow: Workflow,
    request: StartRequest,
) -> Result<RunRow, UserError> {
    start_linked(runs, caller, workflow, request, (None, Vec::new())).await
}

/// Starts a run that belongs to a conversation. Its result is stored in it. `causes` are the workflows that led to it.
///
/// # Errors
/// As [`start`].
pub(crate) async fn start_linked(
    runs: &Runs,
    caller: &Caller,
    workflow: Workflow,
    request: StartRequest,
    (link, causes): (Option<ConversationLink>, Vec<String>),
) -> Result<RunRow, UserError> {
    let new = NewRun { causes, ..prepare(caller, workflow, request).await? };
    let (id, jobs, audit) = (new.id.clone(), runs.jobs.clone(), start_entry(&new));
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            let is_started = store_run(db, &jobs, &new, link).await?;
            if is_started {
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_started)
        })
    });
    if !write.await.map_err(from_store_error)? {
        return Err(too_many());
    }
    store::run(&runs.store, &id).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)
}

/// Returns the run that a caller starts.
///
/// # Errors
/// 422 for an invalid input.
pub(crate) async fn prepare(caller: &Caller, workflow: Workflow, request: StartRequest) -> Result<NewRun, UserError> {
    let input = Value::Object(request.input);
    input::check(&workflow, &input).await?;
    let is_admin = web::admin::is_admin(caller);
    check_cost_limit(&request.limits, &workflow.limits)?;
    let mut run_caller = RunCaller::from(caller);
    if let Some(roles) = workflow.own_roles() {
        run_caller.roles = roles;
    }
    Ok(NewRun {
        id: crate::new_id(),
        owner: caller.user_id.clone(),
        limits: if is_admin { request.limits.or(&workflow.limits) } else { workflow.limits.stricter(&request.limits) },
        workflow,
        parent: None,
        ancestors: Vec::new(),
        key_base: String::new(),
        rerun_of: None,
        causes: Vec::new(),
        caller: run_caller,
        input,
        now: now_millis(),
    })
}

/// Checks that a cost limit can be kept. `known` are the limits of the workflow or of the run.
fn check_cost_limit(limits: &RunLimits, known: &RunLimits) -> Result<(), UserError> {
    if limits.cost_usd.is_none() || known.cost_usd.is_some() {
        return Ok(());
    }
    let message =
        "The workflow has no cost limit in the config, so it is not certain that the price of its models is known.";
    Err(UserError::invalid("/limits/costUsd", message))
}

/// Stores a run, with the conversation to which it belongs, and the job that drives it. Returns false if
/// its owner has too many runs that have not ended.
pub(crate) async fn store_run(
    db: &mut Db,
    jobs: &Jobs,
    new: &NewRun,
    link: Option<ConversationLink>,
) -> Result<bool, StoreError> {
    if !store::insert_run(db, new).await? {
        return Ok(false);
    }
    if let Some(link) = link {
        store::insert_link(db, &ConversationLink { run_id: new.id.clone(), ..link }).await?;
    }
    wake(jobs, db, &new.id, &new.owner, Due::Now).await?;
    Ok(true)
}

/// Returns the audit row of a user who starts a run.
pub(crate) fn start_entry(new: &NewRun) -> AuditEntry {
    let about = json!({ "runId": new.id, "workflowId": new.workflow.id.0 });
    audit_row(&new.owner, "workflow:start", "", about)
}

/// Returns the error of a user who has too many runs that have not ended.
pub(crate) fn too_many() -> UserError {
    let message = format!("You have {MAX_OPEN_RUNS} runs that have not ended, which is the limit. Stop some first.");
    UserError::new(ErrorCode::RateLimited, message)
}

/// The runs that a caller may see and change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Viewer<'c> {
    /// The caller's own.
    Owner(&'c Caller),
    /// All: an administrator in the console.
    Admin,
}

impl Viewer<'_> {
    /// Returns whether it is an administrator, whose limits replace those of workflows.
    fn is_admin(self) -> bool {
        match self {
            Self::Owner(caller) => web::admin::is_admin(caller),
            Self::Admin => true,
        }
    }

    /// Returns the audit row of a change: that of the console, or one of the owner's.
    fn audit(self, of_console: Option<AuditEntry>, action: &str, about: impl FnOnce() -> Value) -> AuditEntry {
        let user_id = match self {
            Self::Owner(caller) => caller.user_id.as_str(),
            Self::Admin => "",
        };
        of_console.unwrap_or_else(|| audit_row(user_id, action, "", about()))
    }
}

/// Returns a run.
///
/// # Errors
/// 404 for a run that the viewer may not see.
pub(crate) async fn run(runs: &Runs, viewer: Viewer<'_>, id: &str) -> Result<RunRow, UserError> {
    let found = store::run(&runs.store, id).await.map_err(from_store_error)?;
    let is_visible = |run: &RunRow| match viewer {
        Viewer::Owner(caller) => run.owner == caller.user_id,
        Viewer::Admin => true,
    };
    found.filter(is_visible).ok_or_else(UserError::not_found)
}

/// Returns a run with its steps and questions.
///
/// # Errors
/// As [`run`].
pub(crate) async fn detail(runs: &Runs, viewer: Viewer<'_>, id: &str) -> Result<RunDetail, UserError> {
    let run = run(runs, viewer, id).await?;
    let steps = store::steps_of(&runs.store, id).await.map_err(from_store_error)?;
    let tasks = store::tasks_of_run(&runs.store, id).await.map_err(from_store_error)?;
    Ok(RunDetail { run, steps, tasks })
}

/// Returns the error of a change that another one has overtaken.
fn overtaken(message: &str) -> UserError {
    UserError::new(ErrorCode::Busy, message)
}

fn failed(error: StoreError) -> UserError {
    from_store_error(error)
}
