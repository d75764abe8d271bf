//! Answers to questions.

use super::{Runs, failed, overtaken};
use crate::engine::{going_on, wake};
use crate::input;
use crate::plan::StepState;
use crate::store::{self, FinishedStep, TaskRow, TaskState};
use ::store::sql::Db;
use ::store::{StoreError, append_audit};
use chat::Caller;
use jobs::Due;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::times::now_millis;
use wire::UserError;
use workflow_definition::Ask;

/// The longest comment in characters.
const MAX_COMMENT: usize = 2_000;

/// The body that answers a question.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Answer {
    /// For `approve`: whether it is approved.
    pub(crate) approved: Option<bool>,
    /// For `choose`: the choice.
    pub(crate) choice: Option<String>,
    /// For `form`: the values.
    pub(crate) values: Option<Map<String, Value>>,
    /// A comment.
    pub(crate) comment: Option<String>,
}

/// Answers a question. The answer is stored, and the run continues.
///
/// # Errors
/// 404 for a question that the caller may not answer, 409 for one that is not open any more, 422
/// for an invalid answer.
pub(crate) async fn answer(runs: &Runs, caller: &Caller, id: &str, answer: Answer) -> Result<TaskRow, UserError> {
    let task = store::open_task(&runs.store, caller, id).await.map_err(failed)?.ok_or_else(UserError::not_found)?;
    if task.state != TaskState::Open {
        return Err(overtaken("This question is not open any more."));
    }
    let now = now_millis();
    let comment = answer.comment.clone();
    let mut output = output(&task, answer).await?;
    output["by"] = caller.user_id.clone().into();
    output["at"] = now.into();
    let (by, jobs) = (caller.user_id.clone(), runs.jobs.clone());
    let (task_id, run_id, owner) = (task.id.clone(), task.run_id.clone(), task.owner.clone());
    let call = task.call_id.clone().map(|call_id| (call_id, output["decision"] == "approved", comment));
    let finished = match call {
        Some(_) => going_on(task.path.clone(), now),
        None => FinishedStep::ended(task.path.clone(), StepState::Waiting, Ok(output.clone())),
    };
    let about = json!({ "taskId": task.id, "runId": task.run_id, "step": task.path });
    let audit = auth::audit_row(&caller.user_id, "workflow:answer", "", about);
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            if !store::answer_task(db, &task_id, &output, &by, now).await? {
                return Err(StoreError::Fenced);
            }
            append_audit(db, vec![audit]).await?;
            if let Some(call) = call {
                let is_open = decide_call(db, (&run_id, &finished.path), call).await?;
                if is_open {
                    // The agent continues when all its calls are decided.
                    return Ok(());
                }
                store::uncount_attempt(db, &run_id, &finished.path).await?;
            }
            if !store::finish_step(db, &run_id, &finished, now).await? {
                // Undoes all.
                return Err(StoreError::Fenced);
            }
            wake(&jobs, db, &run_id, &owner, Due::Now).await
        })
    });
    match write.await {
        Ok(()) => {}
        Err(StoreError::Fenced) => return Err(overtaken("This question is not open any more.")),
        Err(error) => return Err(failed(error)),
    }
    store::open_task(&runs.store, caller, id).await.map_err(failed)?.ok_or_else(UserError::not_found)
}

/// Adds the decision on a call to the state of the agent that waits for it. Returns whether it waits for others.
async fn decide_call(
    db: &mut Db,
    (run_id, path): (&str, &str),
    (call_id, approved, reason): (String, bool, Option<String>),
) -> Result<bool, StoreError> {
    let state = store::suspended_state(db, run_id, path).await?.ok_or(StoreError::Fenced)?;
    let decided = chat::decide_suspended(&state, &call_id, approved, reason);
    let decided = decided.map_err(|error| StoreError::Failed(error.message))?.ok_or(StoreError::Fenced)?;
    store::set_suspended(db, run_id, path, &decided.state).await?;
    Ok(decided.is_open)
}

/// Returns the output of the step, if the answer fits the question.
async fn output(task: &TaskRow, answer: Answer) -> Result<Value, UserError> {
    let Answer { approved, choice, values, comment } = answer;
    let given = [("approved", approved.is_some()), ("choice", choice.is_some()), ("values", values.is_some())];
    let wanted = match task.ask {
        Ask::Approve => "approved",
        Ask::Choose => "choice",
        Ask::Form => "values",
    };
    if let Some((name, _)) = given.into_iter().find(|(name, is_given)| *is_given != (*name == wanted)) {
        return Err(UserError::invalid(format!("/{name}"), format!("This question is answered with `{wanted}`.")));
    }
    if comment.as_ref().is_some_and(|comment| comment.chars().count() > MAX_COMMENT) {
        return Err(UserError::invalid("/comment", format!("A comment has up to {MAX_COMMENT} characters.")));
    }
    let mut output = match (approved, choice, values) {
        (Some(approved), ..) => json!({ "decision": if approved { "approved" } else { "rejected" } }),
        (_, Some(choice), _) => {
            if !task.choices.contains(&choice) {
                let message = format!("Choose one of: {}.", task.choices.join(", "));
                return Err(UserError::invalid("/choice", message));
            }
            json!({ "choice": choice })
        }
        (_, _, Some(values)) => {
            let values = Value::Object(values);
            input::check_schema("/values", task.form.as_ref().and_then(Value::as_object), &values).await?;
            json!({ "values": values })
        }
        // One of them is given, as checked above.
        (None, None, None) => json!({}),
    };
    output["comment"] = comment.into();
    Ok(output)
}
