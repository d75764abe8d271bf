//! Lets others answer a question that nobody answers.

use super::{Runs, failed, overtaken};
use crate::store::{self, Assignee};
use ::store::{AuditEntry, append_audit};
use capability::{Waiting, WaitingKind};
use web::times::now_millis;
use wire::UserError;

/// The longest name of a role, in characters.
const MAX_NAME: usize = 100;

/// Lets another user answer an open question, too, for an administrator: whom the workflow names may be gone. They are
/// told of it. `audit` is the row of the change.
///
/// # Errors
/// 404 for an unknown question, 409 for one that is not open any more, 422 for an unusable name.
pub(crate) async fn assign(
    runs: &Runs,
    waiting: &Waiting,
    task_id: &str,
    assignee: Assignee,
    mut audit: AuditEntry,
) -> Result<(), UserError> {
    let (kind, name) = assignee.parts();
    if name.trim().is_empty() || name.chars().count() > MAX_NAME {
        return Err(UserError::invalid("/name", format!("Enter a name with 1 to {MAX_NAME} characters.")));
    }
    let task = store::task(&runs.store, task_id).await.map_err(failed)?.ok_or_else(UserError::not_found)?;
    audit.arguments["runId"] = task.run_id.into();
    audit.arguments[kind] = name.into();
    let waiting = waiting.clone();
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            let is_added = store::add_assignee(db, &task.id, &assignee, now_millis()).await?;
            if is_added {
                append_audit(db, vec![audit]).await?;
                waiting.begins(db, WaitingKind::Task, &task.id).await?;
            }
            Ok(is_added)
        })
    });
    if write.await.map_err(failed)? {
        Ok(())
    } else {
        Err(overtaken("This question is not open any more, or they may answer it already."))
    }
}
