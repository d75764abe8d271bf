//! Reminders of questions that nobody has answered.

use crate::service::Runs;
use crate::store::{self, DueReminder};
use ::store::{EventKind, NewEvent, StoreError, append_event};
use serde_json::json;
use web::times::now_millis;

/// The most reminders of a transaction.
const PAGE: u32 = 200;

/// Reminds people of the questions that are due for it: marks the questions, and emits an event for
/// each, both in one transaction.
///
/// # Errors
/// The database failed. Due reminders stay due.
pub(crate) async fn remind(runs: &Runs) -> Result<(), StoreError> {
    loop {
        let now = now_millis();
        let due = store::due_reminders(&runs.store, now, PAGE).await?;
        if due.is_empty() {
            return Ok(());
        }
        let write = runs.store.write(move |db| {
            Box::pin(async move {
                for reminder in due {
                    if store::count_reminder(db, &reminder, now).await? {
                        append_event(db, event(reminder, now)).await?;
                    }
                }
                Ok(())
            })
        });
        write.await?;
    }
}

fn event(reminder: DueReminder, now: i64) -> NewEvent {
    let DueReminder { task_id, run_id, path, workflow_id, causes, title, count, assignees, due_at } = reminder;
    let chain: Vec<_> = causes.iter().chain([&workflow_id]).collect();
    let number = count + 1;
    NewEvent {
        name: EventKind::TaskReminded.name().to_owned(),
        key: format!("{task_id} {number}"),
        at: now,
        data: json!({
            "taskId": task_id, "runId": run_id, "workflowId": workflow_id, "step": path, "title": title,
            "number": number, "dueAt": due_at, "roles": assignees.0, "users": assignees.1,
            "chain": chain,
        }),
        roles: None,
    }
}
