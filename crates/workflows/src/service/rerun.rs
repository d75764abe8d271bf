//! Starts a run again, with its input or a changed one.

use super::{Runs, StartRequest, Viewer, failed, prepare, run, store_run, too_many, workflow};
use crate::store::{self, NewRun, RunRow};
use ::store::{AuditEntry, append_audit};
use chat::Caller;
use config::Config;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::{ErrorCode, UserError};
use workflow_definition::RunLimits;

/// The body that starts a run again.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RerunRequest {
    /// The input of the new run. Default: that of the run.
    pub(crate) input: Option<Map<String, Value>>,
    /// Limits beside those of the workflow; the stricter ones apply. Those of an administrator replace the
    /// workflow's.
    pub(crate) limits: RunLimits,
}

/// Starts a new run of the workflow of a run, with the definition that the config has now. It belongs to the caller and
/// has their rights, whoever started the earlier one. `audit` is the row of an administrator's change; without it,
/// the row is that of a user.
///
/// # Errors
/// 404 for a run that the viewer may not see, and if the caller may not start the workflow (any more); 422 for an
/// invalid input, 429 for too many runs.
pub(crate) async fn rerun(
    runs: &Runs,
    (viewer, caller): (Viewer<'_>, &Caller),
    config: &Config,
    id: &str,
    request: RerunRequest,
    audit: Option<AuditEntry>,
) -> Result<RunRow, UserError> {
    let RunRow { workflow_id, input: earlier, .. } = run(runs, viewer, id).await?;
    let workflow = workflow(config, caller, &workflow_id).map_err(|_| {
        let message = "The workflow of this run does not exist any more, or you may not start it.";
        UserError::new(ErrorCode::NotFound, message)
    })?;
    let RerunRequest { input, limits } = request;
    let input = input.or_else(|| earlier.as_object().cloned()).unwrap_or_default();
    let new = prepare(caller, workflow, StartRequest { input, limits }).await?;
    let new = NewRun { rerun_of: Some(id.to_owned()), ..new };
    let about = json!({ "runId": id });
    let mut audit = audit.unwrap_or_else(|| auth::audit_row(&caller.user_id, "workflow:rerun", "", about));
    audit.arguments["newRunId"] = new.id.clone().into();
    let (new_id, jobs) = (new.id.clone(), runs.jobs.clone());
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            let is_started = store_run(db, &jobs, &new, None).await?;
            if is_started {
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_started)
        })
    });
    if !write.await.map_err(failed)? {
        return Err(too_many());
    }
    store::run(&runs.store, &new_id).await.map_err(failed)?.ok_or_else(UserError::not_found)
}
