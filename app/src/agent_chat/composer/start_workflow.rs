//! The form above the composer, after the command of a workflow or of a prompt was chosen.

use super::prompts;
use crate::agent_chat::session::{Session, SessionAction, WorkflowStart};
use crate::prelude::*;
use crate::ui::browser;
use crate::workflows::{ChatStart, Started, WORKFLOWS};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Renders the form of a workflow, or of what `prompts.rs` has put in place of its id.
pub(in crate::agent_chat) fn start_workflow(session: Session, workflow_id: &str) -> AnyView {
    if let Some(form) = prompts::opened(session, workflow_id) {
        return form;
    }
    let (id, message_id) = (workflow_id.to_owned(), browser::random_id());
    let send = move |input: Map<String, Value>, started: Started| {
        let (workflow_id, message_id) = (id.clone(), message_id.clone());
        session.dispatch(SessionAction::StartWorkflow(WorkflowStart { workflow_id, message_id, input, started }));
    };
    let close = move |()| {
        session.starting.set(None);
        session.focus_requests.update(|count| *count += 1);
    };
    let start = ChatStart {
        workflow_id: workflow_id.to_owned(),
        block_id: session.block_id(),
        send: Arc::new(send),
        close: Callback::new(close),
    };
    WORKFLOWS.view(move |code| (code.start_in_chat)(start.clone()))
}
