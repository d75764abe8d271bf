//! Changes to messages that start no run: switching versions, deletion, feedback, copying.

use super::{Phase, Session};
use crate::agent_chat::message::state::MessageState;
use crate::api;
use crate::prelude::*;
use serde_json::json;
use wire::Role;
use wire::change::{ChangeResult, Feedback, MessageChange, Rating};
use wire::page::{FeedbackValue, Property};

impl Session {
    /// Shows another version of a message and the messages that follow it. `then` is called when it
    /// is shown.
    pub(in crate::agent_chat) fn switch_version(self, message_id: String, then: Box<dyn FnOnce()>) {
        leptos::task::spawn_local(async move {
            if self.change(MessageChange::Switch { message_id }).await.is_some() {
                self.reload_after_change().await;
                then();
            }
        });
    }

    /// Whether the message exists and no answer is being written.
    pub(in crate::agent_chat) fn can_delete(self, id: &str) -> bool {
        let found = self.messages.with_untracked(|all| all.iter().any(|message| message.id == id));
        found && self.phase.get_untracked() == Phase::Idle
    }

    /// Deletes a message and all that follow it, if that is possible now.
    pub(in crate::agent_chat) fn delete_message(self, id: &str) {
        let found = self.messages.with_untracked(|all| all.iter().find(|message| message.id == id).cloned());
        let (Some(message), Phase::Idle) = (found, self.phase.get_untracked()) else { return };
        let about = json!({ "conversationId": self.conversation_id(), "id": id, "text": message.text() });
        leptos::task::spawn_local(async move {
            if self.change(MessageChange::Delete { message_id: message.id.clone() }).await.is_some() {
                self.emit_with_messages("onDeleteMessage", about);
                self.reload_after_change().await;
                self.deleted.try_set(Some(message.id));
            }
        });
    }

    /// Restores the messages deleted last.
    pub(in crate::agent_chat) fn undo_delete(self) {
        let Some(message_id) = self.deleted.get_untracked() else { return };
        leptos::task::spawn_local(async move {
            if self.change(MessageChange::Restore { message_id }).await.is_some() {
                self.focus_requests.update(|count| *count += 1);
                self.reload_after_change().await;
            }
        });
    }

    /// The user's rating of an answer: the one that the page provides, otherwise the one on the
    /// server. Tracked.
    pub(in crate::agent_chat) fn rating(self, message: &MessageState) -> Option<Rating> {
        let kept = message.feedback.with(|feedback| feedback.as_ref().map(|feedback| feedback.rating));
        let Some(values) = self.feedback_values else { return kept };
        values.with(|values| match values.get(&message.id).and_then(FeedbackValue::from_value) {
            Some(FeedbackValue::Like | FeedbackValue::Up) => Some(Rating::Up),
            Some(FeedbackValue::Dislike | FeedbackValue::Down) => Some(Rating::Down),
            Some(FeedbackValue::Default) => None,
            None => kept,
        })
    }

    /// Saves the user's rating of an answer. It is shown at once, and reverted if the server
    /// rejects it.
    pub(super) fn rate(self, message: &MessageState, feedback: Option<Feedback>) {
        let Some(id) = self.id.get_untracked() else { return };
        let (shown, before) = (message.feedback.clone(), message.feedback.get_untracked());
        shown.set(feedback.clone());
        let about = json!({
            "conversationId": id,
            "id": message.id,
            "text": message.text(),
            "rating": feedback.as_ref().map(|feedback| feedback.rating),
            "reason": feedback.as_ref().and_then(|feedback| feedback.reason.as_ref()),
        });
        let change = MessageChange::Rate { message_id: message.id.clone(), feedback };
        leptos::task::spawn_local(async move {
            match api::revise(id, change).await {
                _ if self.is_disposed() => {}
                Ok(_) => self.emit("onFeedback", about),
                Err(error) => {
                    shown.set(before);
                    self.report_error(&error, None);
                }
            }
        });
    }

    /// Creates a new conversation from the messages up to this one, and opens it. If the page's state
    /// selects the conversation, the event lets the page open it.
    pub(in crate::agent_chat) fn copy_up_to(self, message_id: String) {
        leptos::task::spawn_local(async move {
            if let Some(changed) = self.change(MessageChange::Copy { message_id }).await {
                self.chat.notify_changed();
                self.chat.select(Some(changed.conversation_id.clone()), false);
                self.emit_conversation_start(&changed.conversation_id);
            }
        });
    }

    /// Marks an answer that replaces another as a version of it.
    pub(super) fn mark_replacement(self, message: &MessageState) {
        let replaced =
            self.inner.try_update_value(|inner| std::mem::take(&mut inner.replaced_versions)).unwrap_or_default();
        if message.role == Role::Assistant && !replaced.is_empty() {
            message.versions.set(replaced.into_iter().chain([message.id.clone()]).collect());
        }
    }

    /// Sends a change to the server, unless an answer is being written; none if it was rejected.
    async fn change(self, change: MessageChange) -> Option<ChangeResult> {
        let id = self.id.get_untracked().filter(|_| self.phase.get_untracked() == Phase::Idle)?;
        self.problem.set(None);
        self.deleted.set(None);
        let changed = api::revise(id, change).await;
        if self.is_disposed() {
            return None;
        }
        changed.inspect_err(|error| self.report_error(error, None)).ok()
    }

    async fn reload_after_change(self) {
        // If a run was started meanwhile, it is followed, and its end shows the change.
        if self.phase.get_untracked() == Phase::Idle {
            self.reload().await;
        }
        // This tab receives the notification as well: it has loaded the change by then.
        if !self.is_disposed() {
            self.notify_other_tabs();
        }
    }
}
