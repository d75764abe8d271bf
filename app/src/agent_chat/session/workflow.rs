//! Workflows that the user starts with a command of the composer.

use super::{Session, WorkflowStart};
use crate::api::ApiError;
use crate::prelude::*;
use crate::workflows::api::start_workflow_in_chat;
use serde_json::{Map, Value};
use wire::UiMessage;
use wire::api::Submission;
use wire::error::ErrorCode;

impl Session {
    /// Starts a workflow in this conversation, and shows the messages about it.
    pub(super) fn start_workflow(self, start: WorkflowStart) {
        leptos::task::spawn_local(async move {
            let WorkflowStart { workflow_id, message_id, input, started } = start;
            let outcome = self.send_start(workflow_id, message_id, input).await;
            let is_done = outcome.is_ok();
            started(outcome);
            if is_done && !self.is_disposed() {
                self.open_form.set(None);
                self.focus_requests.update(|count| *count += 1);
                self.notify_other_tabs();
                self.reload().await;
                self.scroll_requests.try_update(|count| *count += 1);
            }
        });
    }

    async fn send_start(
        self,
        workflow_id: String,
        message_id: String,
        input: Map<String, Value>,
    ) -> Result<(), ApiError> {
        let is_new = self.id.with_untracked(Option::is_none);
        let conversation_id = self.id.get_untracked().unwrap_or_else(|| self.new_conversation_id());
        self.id.set(Some(conversation_id.clone()));
        let history = self.inner.with_value(|inner| inner.history.clone());
        // The server writes the text.
        let message = UiMessage::user(message_id, String::new());
        let submission = Submission::Message { message, replaces: None, history };
        let request = self.request(conversation_id.clone(), submission, &[]);
        let selected = self.chat.conversation.get_untracked();
        let sent = start_workflow_in_chat(request, workflow_id, input).await;
        if self.is_disposed() {
            return sent.map(drop);
        }
        match &sent {
            // The conversation was not created, except if an answer is being written in it already.
            Err(error) if is_new && error.code() != ErrorCode::Busy => self.id.set(None),
            Err(_) => {}
            Ok(_) => {
                self.inner.update_value(|inner| inner.history.clear());
                // Unless the user has selected another conversation meanwhile, which is still loading.
                if is_new && self.chat.conversation.get_untracked() == selected {
                    self.chat.select(Some(conversation_id.clone()), true);
                }
                if is_new {
                    self.emit_conversation_start(&conversation_id);
                }
            }
        }
        sent.map(drop)
    }
}
