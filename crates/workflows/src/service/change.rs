//! Changes of runs: stop, retry, and the decision about a step whose outcome is unknown.

use super::{Runs, Viewer, check_cost_limit, failed, overtaken, run};
use crate::engine::wake;
use crate::plan::{StepError, StepState};
use crate::repeat::repeated_steps;
use crate::store::{self, FinishedStep, RunRow, Used};
use ::store::sql::Db;
use ::store::{AuditEntry, StoreError, append_audit};
use jobs::Due;
use operators::Operators;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use web::times::now_millis;
use wire::UserError;
use workflow_definition::{RunLimits, Workflow};

/// The body that makes an ended run go on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct RetryRequest {
    /// The path of the step from which the run goes on: this step and all that started later run
    /// again. Default: the steps whose errors ended the run, and those that its end has cut off. Steps
    /// whose errors were handled do not run again.
    pub(crate) path: Option<String>,
    /// Whether the run goes on with the definition that the config has now, instead of the one with
    /// which it was started, and so do the runs of its children that have failed. The records of their steps are
    /// kept by their paths.
    pub(crate) use_current_definition: bool,
    /// Limits beside those of the run; the stricter ones apply. Those of an administrator replace the run's. They
    /// count from now on, as if nothing had been used before.
    pub(crate) limits: RunLimits,
}

/// What is known of the config in use when a run goes on.
pub(crate) struct CurrentConfig<W> {
    /// Returns a workflow.
    pub(crate) workflow: W,
    /// The operators of the program.
    pub(crate) operators: Arc<Operators>,
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

/// Makes an ended run go on. Its limits, also that of time, count from now.
///
/// # Errors
/// 404 for a run of another user or an unknown step, 409 for one that has not ended, 422 for limits that cannot be kept.
pub(crate) async fn retry(
    runs: &Runs,
    viewer: Viewer<'_>,
    id: &str,
    request: RetryRequest,
    current: CurrentConfig<impl Fn(&str) -> Option<Workflow> + Send + 'static>,
    audit: Option<AuditEntry>,
) -> Result<(), UserError> {
    let RetryRequest { path, use_current_definition, limits } = request;
    let run = run(runs, viewer, id).await?;
    if run.ended_at.is_none() {
        return Err(overtaken("The run has not ended."));
    }
    if run.parent_id.is_some() {
        return Err(UserError::invalid("/", "This run is a step of another one. Retry that one."));
    }
    check_cost_limit(&limits, &run.limits)?;
    let limits = match viewer.is_admin() {
        true => limits.or(&run.limits),
        false => run.limits.stricter(&limits),
    };
    let again = repeated_steps(&runs.store, &run, current.operators, path.as_deref()).await.map_err(failed)?;
    let again = again.ok_or_else(UserError::not_found)?;
    if use_current_definition && (current.workflow)(&run.workflow_id).is_none() {
        return Err(UserError::invalid("/useCurrentDefinition", "The config has no such workflow."));
    }
    let workflow = current.workflow;
    let (id, owner, jobs, workflow_id, now) = (run.id, run.owner, runs.jobs.clone(), run.workflow_id, now_millis());
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if !store::reopen(db, &id, &limits, now).await? {
                return Err(StoreError::Fenced);
            }
            store::reopen_link(db, &id).await?;
            if use_current_definition {
                let mut changed = store::failed_below(db, &id).await?;
                changed.push((id.clone(), workflow_id));
                for (run, workflow_id) in changed {
                    let current = workflow(&workflow_id);
                    if let Some(current) = current {
                        store::use_definition(db, &run, &current, now).await?;
                    }
                }
            }
            store::put_back(db, &id, &again, now).await?;
            wake(&jobs, db, &id, &owner, Due::Now).await?;
            append(db, audit).await
        })
    });
    match write.await {
        Err(StoreError::Fenced) => Err(overtaken("The run has not ended.")),
        done => done.map_err(failed),
    }
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
            if decided.state != StepState::Retrying {
                store::forget_suspended(db, &id, &decided.path).await?;
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
