//! The form of a workflow above the composer, after its command was chosen.

use super::form_panel;
use crate::agent_chat::session::{Session, SessionAction, WorkflowStart};
use crate::prelude::*;
use crate::ui::browser;
use crate::workflows::{ChatStart, Started, WORKFLOWS};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Renders the form of a workflow.
pub(super) fn start_workflow(session: Session, workflow_id: &str) -> AnyView {
    let (id, message_id) = (workflow_id.to_owned(), browser::random_id());
    let send = move |input: Map<String, Value>, started: Started| {
        let (workflow_id, message_id) = (id.clone(), message_id.clone());
        session.dispatch(SessionAction::StartWorkflow(WorkflowStart { workflow_id, message_id, input, started }));
    };
    let start = ChatStart {
        workflow_id: workflow_id.to_owned(),
        block_id: session.block_id(),
        send: Arc::new(send),
        close: Callback::new(move |()| form_panel::close(session)),
    };
    WORKFLOWS.view(move |code| (code.start_in_chat)(start.clone()))
}
