//! Changes of runs: stop, retry, and the decision about a step whose outcome is unknown.

use super::{Runs, Viewer, failed, overtaken, run};
use crate::definition::Workflow;
use crate::engine::wake;
use crate::plan::{StepError, StepState};
use crate::store::{self, FinishedStep, RunRow, StepRow, Used};
use ::store::sql::Db;
use ::store::{AuditEntry, StoreError, append_audit};
use jobs::Due;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use web::times::now_millis;
use wire::UserError;

/// The body that makes an ended run go on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct RetryRequest {
    /// The path of the step from which the run goes on: this step and all that started later run
    /// again. Default: the steps that have failed.
    pub(crate) path: Option<String>,
    /// Whether the run goes on with the definition that the config has now, instead of the one with
    /// which it was started. The records of its steps are kept by their paths.
    pub(crate) use_current_definition: bool,
}

/// The body that decides about a step whose outcome is unknown.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecideRequest {
    /// The path of the step.
    pub(crate) path: String,
    /// What becomes of it.
    pub(crate) action: Action,
    /// For `skip`: the output of the step.
    #[serde(default)]
    pub(crate) output: Value,
}

/// What becomes of a step whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Action {
    /// It runs again, with the same idempotency key.
    RunAgain,
    /// It counts as done, with `output`.
    Skip,
    /// It counts as failed.
    Fail,
}

/// Records an administrator's change with the change itself.
async fn append(db: &mut Db, audit: Option<AuditEntry>) -> Result<(), StoreError> {
    match audit {
        Some(entry) => append_audit(db, vec![entry]).await,
        None => Ok(()),
    }
}

/// Asks a run to stop. Its children stop as well.
///
/// # Errors
/// 404 for a run of another user.
pub(crate) async fn stop(
    runs: &Runs,
    viewer: Viewer<'_>,
    id: &str,
    audit: Option<AuditEntry>,
) -> Result<(), UserError> {
    let RunRow { id, owner, .. } = run(runs, viewer, id).await?;
    let jobs = runs.jobs.clone();
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if store::request_stop(db, &id).await? {
                wake(&jobs, db, &id, &owner, Due::Now).await?;
            }
            append(db, audit).await
        })
    });
    write.await.map_err(failed)
}

/// Makes an ended run go on. `current` returns a workflow of the config.
///
/// # Errors
/// 404 for a run of another user or an unknown step, 409 for one that has not ended, 422 if its time
/// is over.
pub(crate) async fn retry(
    runs: &Runs,
    viewer: Viewer<'_>,
    id: &str,
    request: RetryRequest,
    current: impl FnOnce(&str) -> Option<Workflow>,
    audit: Option<AuditEntry>,
) -> Result<(), UserError> {
    let RetryRequest { path, use_current_definition } = request;
    let run = run(runs, viewer, id).await?;
    if run.ended_at.is_none() {
        return Err(overtaken("The run has not ended."));
    }
    if run.parent_id.is_some() {
        return Err(UserError::invalid("/", "This run is a step of another one. Retry that one."));
    }
    let now = now_millis();
    if now >= run.created_at + run.limits.timeout_ms() {
        return Err(UserError::invalid("/", "The time limit of this run is over. Start a new one."));
    }
    let steps = store::steps_of(&runs.store, id).await.map_err(failed)?;
    let again = steps_to_repeat(&steps, path.as_deref()).ok_or_else(UserError::not_found)?;
    let current = match use_current_definition {
        true => {
            let missing = || UserError::invalid("/useCurrentDefinition", "The config has no such workflow.");
            Some(current(&run.workflow_id).ok_or_else(missing)?)
        }
        false => None,
    };
    let (id, owner, jobs) = (run.id, run.owner, runs.jobs.clone());
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if !store::reopen(db, &id).await? {
                return Err(StoreError::Fenced);
            }
            store::reopen_link(db, &id).await?;
            if let Some(current) = &current {
                store::use_definition(db, &id, current, now).await?;
            }
            store::put_back(db, &id, &again).await?;
            wake(&jobs, db, &id, &owner, Due::Now).await?;
            append(db, audit).await
        })
    });
    match write.await {
        Err(StoreError::Fenced) => Err(overtaken("The run has not ended.")),
        done => done.map_err(failed),
    }
}

/// Returns the paths of the steps that run again: those that have failed, and with a path that step
/// and all that started later. `None` if there is no such step.
fn steps_to_repeat(steps: &[StepRow], path: Option<&str>) -> Option<Vec<String>> {
    let from = match path {
        Some(path) => Some(steps.iter().position(|step| step.path == path)?),
        None => None,
    };
    let is_repeated =
        |(index, step): &(usize, &StepRow)| step.state != StepState::Done || from.is_some_and(|from| *index >= from);
    Some(steps.iter().enumerate().filter(is_repeated).map(|(_, step)| step.path.clone()).collect())
}

/// Decides about a step whose outcome is unknown, because its server was killed.
///
/// # Errors
/// 404 for a run of another user, 409 for a step that has another state.
pub(crate) async fn decide(
    runs: &Runs,
    viewer: Viewer<'_>,
    id: &str,
    request: DecideRequest,
    audit: Option<AuditEntry>,
) -> Result<(), UserError> {
    let RunRow { id, owner, .. } = run(runs, viewer, id).await?;
    let DecideRequest { path, action, output } = request;
    let now = now_millis();
    let (state, output, error) = match action {
        Action::RunAgain => (StepState::Retrying, None, None),
        Action::Skip => (StepState::Done, Some(output), None),
        Action::Fail => {
            let error = StepError::new("failed", "It is not known whether the step had its effect.", &path);
            (StepState::Failed, None, Some(error))
        }
    };
    let next_at = (state == StepState::Retrying).then_some(now);
    let used = Used::default();
    let decided = FinishedStep { path, from: StepState::Unknown, state, output, error, next_at, used };
    let jobs = runs.jobs.clone();
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if !store::finish_step(db, &id, &decided, now).await? {
                return Err(StoreError::Fenced);
            }
            wake(&jobs, db, &id, &owner, Due::Now).await?;
            append(db, audit).await
        })
    });
    match write.await {
        Err(StoreError::Fenced) => Err(overtaken("Nothing is to be decided about this step.")),
        done => done.map_err(failed),
    }
}
