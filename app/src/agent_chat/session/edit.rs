//! Editing of messages. The edited message replaces the earlier one, which is kept as another
//! version.

use super::{Phase, Remedy, Session};
use crate::agent_chat::composer::outgoing::{OutgoingFile, OutgoingMessage};
use crate::agent_chat::message::state::MessageState;
use crate::prelude::*;
use crate::ui::browser;
use serde_json::{Value, json};
use wire::api::Submission;

impl Session {
    /// Starts to edit a message of the user.
    pub(in crate::agent_chat) fn begin_edit(self, message: &MessageState) {
        // A message that is not on the server cannot be replaced there.
        if self.phase.get_untracked() == Phase::Idle && self.id.with_untracked(Option::is_some) {
            self.editing.set(Some((message.id.clone(), message.text())));
        }
    }

    /// Whether a message is being edited. Tracked.
    pub(in crate::agent_chat) fn is_edited(self, id: &str) -> bool {
        self.editing.with(|editing| editing.as_ref().is_some_and(|(edited, _)| edited == id))
    }

    /// Cancels editing.
    pub(in crate::agent_chat) fn end_edit(self) {
        self.editing.set(None);
    }

    /// Sends the edited text as a replacement of the message, if the page allows it.
    pub(in crate::agent_chat) fn send_edit(self) {
        let Some((id, text)) = self.editing.get_untracked() else { return };
        let text = text.trim().to_owned();
        let messages = self.messages.get_untracked();
        let Some(message) = messages.into_iter().find(|message| message.id == id) else { return };
        if !text.is_empty() {
            let files = message.files().into_iter().filter_map(OutgoingFile::from_part).collect();
            self.ask_page(
                OutgoingMessage { text, files, metadata: Value::Null },
                Box::new(move |out| self.send_replacement(&message, out)),
            );
        }
    }

    fn send_replacement(self, before: &MessageState, out: OutgoingMessage) {
        let message = out.to_message(browser::random_id());
        let text = out.text.clone();
        let shown = MessageState::new(&message);
        shown.versions.set(before.version_ids().into_iter().chain([message.id.clone()]).collect());
        self.messages.update(|messages| {
            if let Some(at) = messages.iter().position(|known| known.id == before.id) {
                messages.truncate(at);
            }
            messages.push(shown);
        });
        let replaced = before.id.clone();
        let about = json!({
            "conversationId": self.conversation_id(),
            "id": message.id,
            "replaces": replaced,
            "text": text,
            "textBefore": before.text(),
        });
        self.emit_with_messages("onEditMessage", about);
        self.emit_user_message(&message, &out);
        self.end_edit();
        self.focus_requests.update(|count| *count += 1);
        self.begin_sending();
        let submission = Submission::Message { message, replaces: Some(replaced.clone()), history: Vec::new() };
        leptos::task::spawn_local(async move {
            let Err(error) = self.submit(submission, None).await else { return };
            if self.is_disposed() {
                return;
            }
            // Shows the original message again, and keeps the edited text in the form.
            self.reload().await;
            if !self.is_disposed() {
                self.editing.set(Some((replaced, text)));
                self.handle_refusal(&error, Remedy::Reload);
            }
        });
    }
}
