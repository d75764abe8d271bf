//! Changes of runs: stop, and the decision about a step whose outcome is unknown.

use super::{Runs, Viewer, failed, overtaken, run};
use crate::engine::wake;
use crate::plan::{StepError, StepState};
use crate::store::{self, FinishedStep, RunRow, Used};
use ::store::{AuditEntry, StoreError, append_audit};
use jobs::Due;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use web::times::now_millis;
use wire::UserError;

/// The largest output of a decision that the audit log contains, in bytes.
const MAX_AUDITED: usize = 4_000;

/// The body that decides about a step whose outcome is unknown.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecideRequest {
    /// The path of the step.
    pub(crate) path: String,
    /// The action.
    pub(crate) action: Action,
    /// For `skip`: the output of the step.
    #[serde(default)]
    pub(crate) output: Value,
}

/// The action on a step whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Action {
    /// It runs again, with the same idempotency key.
    RunAgain,
    /// It counts as done, with `output`.
    Skip,
    /// It counts as failed.
    Fail,
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
    let audit = viewer.audit(audit, "workflow:stop", || json!({ "runId": id }));
    let jobs = runs.jobs.clone();
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if store::request_stop(db, &id).await? {
                wake(&jobs, db, &id, &owner, Due::Now).await?;
            }
            append_audit(db, vec![audit]).await
        })
    });
    write.await.map_err(failed)
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
    let mut audit = viewer.audit(audit, "workflow:decide", || json!({ "runId": id, "path": path }));
    audit.arguments["action"] = json!(action);
    if action == Action::Skip {
        let bytes = output.to_string().len();
        audit.arguments["output"] = if bytes > MAX_AUDITED { json!({ "bytes": bytes }) } else { output.clone() };
    }
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
            append_audit(db, vec![audit]).await
        })
    });
    match write.await {
        Err(StoreError::Fenced) => Err(overtaken("Nothing is to be decided about this step.")),
        done => done.map_err(failed),
    }
}
