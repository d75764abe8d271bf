//! The events of the product that runs emit. Each names the workflows that led to it, so that what it starts does not
//! lead to it again.

use crate::plan::StepError;
use crate::store::{Assignee, NewTask, RunRow, RunState};
use ::store::{EventKind, NewEvent};
use serde_json::json;

/// The longest text in an event, in characters.
const MAX_TEXT: usize = 2_000;

/// Returns the event that a run asks people something.
pub(super) fn task_waiting(run_id: &str, chain: &[String], task: &NewTask, now: i64) -> NewEvent {
    let (mut roles, mut users) = (Vec::new(), Vec::new());
    for assignee in &task.assignees {
        match assignee {
            Assignee::Role(name) => roles.push(name),
            Assignee::User(name) => users.push(name),
        }
    }
    NewEvent {
        name: EventKind::TaskWaiting.name().to_owned(),
        key: task.id.clone(),
        at: now,
        data: json!({
            "taskId": task.id, "runId": run_id, "workflowId": task.workflow_id, "step": task.path,
            "title": shortened(&task.title), "dueAt": task.due_at, "roles": roles, "users": users, "chain": chain,
        }),
        roles: None,
    }
}

/// Returns the event that a run has ended; `None` for one that is a step of another run.
pub(super) fn workflow_ended(run: &RunRow, state: RunState, error: Option<&StepError>, now: i64) -> Option<NewEvent> {
    if run.parent_id.is_some() {
        return None;
    }
    Some(NewEvent {
        name: EventKind::WorkflowEnded.name().to_owned(),
        // A run can continue after its end, and end again.
        key: format!("{} {now}", run.id),
        at: now,
        data: json!({
            "runId": run.id, "workflowId": run.workflow_id, "userId": run.owner, "outcome": state.name(),
            "cause": error.map(|error| shortened(&error.message)), "step": error.map(|error| &error.step),
            "chain": run.chain(),
        }),
        roles: None,
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
