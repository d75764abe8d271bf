//! What the user does with messages that asks nothing of the agent: another version, a deletion, a judgement, a copy.

use super::{Phase, Session};
use crate::agent_chat::message_state::MessageState;
use crate::api;
use crate::prelude::*;
use serde_json::{Value, json};
use wire::Role;
use wire::change::{Change, Changed, Feedback, Rating};

impl Session {
    /// Shows another version of a message, with what was said after that one. `then` follows when it is shown.
    pub(in crate::agent_chat) fn switch_to(self, message_id: String, then: Box<dyn FnOnce()>) {
        leptos::task::spawn_local(async move {
            if self.change(Change::Switch { message_id }).await.is_some() {
                self.show_change().await;
                then();
            }
        });
    }

    /// Whether there is such a message, and no answer is being written.
    pub(in crate::agent_chat) fn can_delete(self, id: &str) -> bool {
        let found = self.messages.with_untracked(|all| all.iter().any(|message| message.id == id));
        found && self.phase.get_untracked() == Phase::Idle
    }

    /// Deletes a message with what follows it, if that can be done now.
    pub(in crate::agent_chat) fn delete_message(self, id: &str) {
        let found = self.messages.with_untracked(|all| all.iter().find(|message| message.id == id).cloned());
        let (Some(message), Phase::Idle) = (found, self.phase.get_untracked()) else { return };
        let about = json!({ "conversationId": self.conversation_id(), "id": id, "text": message.text() });
        leptos::task::spawn_local(async move {
            if self.change(Change::Delete { message_id: message.id.clone() }).await.is_some() {
                self.tell("onDeleteMessage", about);
                self.show_change().await;
                self.deleted.try_set(Some(message.id));
            }
        });
    }

    /// Takes the last deletion back.
    pub(in crate::agent_chat) fn restore(self) {
        let Some(message_id) = self.deleted.get_untracked() else { return };
        leptos::task::spawn_local(async move {
            if self.change(Change::Restore { message_id }).await.is_some() {
                self.focus.update(|count| *count += 1);
                self.show_change().await;
            }
        });
    }

    /// What the user thinks of an answer: what the page keeps of that, otherwise what the server does. Tracked.
    pub(in crate::agent_chat) fn rating(self, message: &MessageState) -> Option<Rating> {
        let kept = message.feedback.with(|feedback| feedback.as_ref().map(|feedback| feedback.rating));
        let Some(values) = self.feedback_values else { return kept };
        values.with(|values| match values.get(&message.id).and_then(Value::as_str) {
            // The second is what `onFeedback` says.
            Some("like" | "up") => Some(Rating::Up),
            Some("dislike" | "down") => Some(Rating::Down),
            Some("default") => None,
            _ => kept,
        })
    }

    /// Says what the user thinks of an answer. It is shown at once, and as it was when the server does not take it.
    pub(in crate::agent_chat) fn rate(self, message: &MessageState, feedback: Option<Feedback>) {
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
        let change = Change::Rate { message_id: message.id.clone(), feedback };
        leptos::task::spawn_local(async move {
            match api::revise(id, change).await {
                _ if self.is_gone() => {}
                Ok(_) => self.tell("onFeedback", about),
                Err(error) => {
                    shown.set(before);
                    self.fail(&error, None);
                }
            }
        });
    }

    /// Opens a new conversation that begins with everything up to a message.
    pub(in crate::agent_chat) fn copy_up_to(self, message_id: String) {
        leptos::task::spawn_local(async move {
            if let Some(changed) = self.change(Change::Copy { message_id }).await {
                self.chat.bump();
                self.chat.select(Some(changed.conversation_id), false);
            }
        });
    }

    /// An answer that takes the place of another is a version like that one.
    pub(super) fn take_place(self, message: &MessageState) {
        let replaced = self.inner.try_update_value(|inner| std::mem::take(&mut inner.replaced)).unwrap_or_default();
        if message.role == Role::Assistant && !replaced.is_empty() {
            message.versions.set(replaced.into_iter().chain([message.id.clone()]).collect());
        }
    }

    /// Asks the server for a change, while nothing is being written; none when it was refused.
    async fn change(self, change: Change) -> Option<Changed> {
        let id = self.id.get_untracked().filter(|_| self.phase.get_untracked() == Phase::Idle)?;
        self.problem.set(None);
        self.deleted.set(None);
        let changed = api::revise(id, change).await;
        if self.is_gone() {
            return None;
        }
        changed.inspect_err(|error| self.fail(error, None)).ok()
    }

    async fn show_change(self) {
        // An answer that was asked for in the meantime is followed; its end shows the rest.
        if self.phase.get_untracked() == Phase::Idle {
            self.reload().await;
        }
        // This tab hears it, too: it has loaded by then what the others load now.
        if !self.is_gone() {
            self.tell_others();
        }
    }
}
