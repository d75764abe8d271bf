//! Copies of the waiting messages on the server. The other tabs of the user show them, and the server
//! sends them if no tab does. A copy is deleted when the conversation gets its message.
//!
//! A message that the user removes while the server cannot be reached stays in the list, marked as removed, and is never
//! sent from here. Its copy is deleted as soon as the server answers.

use super::queue::queued_message;
use super::{Phase, Session};
use crate::actions::MessageStatus;
use crate::address::encode_component;
use crate::agent_chat::composer::outgoing::{OutgoingFile, OutgoingMessage, QueuedMessage, ServerCopy};
use crate::api::ApiError;
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::tab_sync;
use crate::texts::{Text, t};
use crate::ui::browser;
use leptos::task::spawn_local;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use wire::UiMessage;
use wire::api::Submission;
use wire::error::ErrorCode;
use wire::page::WhileRunning;

/// How often the list is loaded in a row if copies change meanwhile.
const ATTEMPTS: usize = 3;
/// The pause before a removal is repeated that did not reach the server.
const RETRY: Duration = Duration::from_secs(5);

/// The answer of the server: the queue of a conversation.
#[derive(Deserialize)]
struct KeptQueue {
    items: Vec<KeptMessage>,
}

/// A copy.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeptMessage {
    message: UiMessage,
    is_held: bool,
    refusal: Option<String>,
}

impl Session {
    /// Shows the copies of the server, and keeps them like the queue from now on.
    pub(super) fn keep_queue(self) {
        if self.stays_in_tab() {
            return;
        }
        Effect::new(move |_| {
            // A new conversation is not on the server before.
            let is_known = self.phase.get() != Phase::Sending;
            let states = |queue: &Vec<QueuedMessage>| -> Vec<_> {
                queue.iter().map(|queued| (queued.text.get(), queued.is_edited.get())).collect()
            };
            let waits = !self.queue.with(states).is_empty();
            if is_known && waits {
                untrack(|| self.store_copies());
            }
        });
        tab_sync::listen(move |changed| {
            let is_ours = !self.is_disposed() && self.id.with_untracked(|id| id.as_deref() == Some(changed));
            if is_ours {
                spawn_local(self.refresh_queue());
            }
        });
        // Those that were removed before the page was loaded again.
        for removed in self.queue.get_untracked() {
            if untrack(|| removed.is_removed()) {
                spawn_local(self.delete_copy(removed, usize::MAX));
            }
        }
        spawn_local(async move {
            self.refresh_queue().await;
            // Some are sent by pages only.
            if !self.is_disposed() && self.phase.get_untracked() == Phase::Idle {
                self.send_waiting();
            }
        });
    }

    /// Whether messages do not wait on the server: they interrupt the answer.
    fn stays_in_tab(self) -> bool {
        self.block.with_value(|place| place.properties.sender.while_running == WhileRunning::Interrupt)
    }

    /// The address of the queue; none for a conversation without an id.
    fn queue_path(self) -> Option<String> {
        let id = self.id.get_untracked()?;
        Some(["/api/message-queues/", &encode_component(&id)].concat())
    }

    /// Stores what the server does not have as it is here, one after the other.
    fn store_copies(self) {
        let is_storing = self.inner.try_update_value(|inner| std::mem::replace(&mut inner.is_keeping_queue, true));
        if is_storing != Some(false) {
            return;
        }
        spawn_local(async move {
            while let Some(queued) = self.next_to_store() {
                if !self.store_copy(queued).await {
                    break;
                }
            }
            // The session may be gone.
            let _ = self.inner.try_update_value(|inner| inner.is_keeping_queue = false);
        });
    }

    fn next_to_store(self) -> Option<QueuedMessage> {
        let is_new = |queued: &&QueuedMessage| {
            let state = queued.state();
            queued.copy.with_untracked(|copy| !copy.is_removed && copy.stored.as_ref() != Some(&state))
        };
        self.queue.with_untracked(|queue| queue.iter().find(is_new).cloned())
    }

    /// Stores a message; false if that failed, so that it is tried again with the next change.
    async fn store_copy(self, queued: QueuedMessage) -> bool {
        let (Some(path), Some(id)) = (self.message_path(&queued.key), self.conversation_id()) else { return false };
        let state = queued.state();
        let out =
            OutgoingMessage { text: state.0.clone(), files: queued.files.clone(), metadata: queued.metadata.clone() };
        let message = json!(out.to_message(queued.key.clone()));
        let request = self.request(id, Submission::Continue, &[]);
        let body = json!({
            "message": message,
            "pageId": request.page_id,
            "blockId": request.block_id,
            "urlQuery": request.url_query,
            "switches": request.switches,
            "options": request.options,
            "needsPage": self.has_event("onBeforeSend"),
            "isEdited": state.1,
        });
        self.count_queue_change();
        let stored = http::send::<KeptQueue>(Method::Put, &path, &body).await;
        if self.is_disposed() {
            return false;
        }
        self.count_queue_change();
        let Ok(KeptQueue { items }) = stored else { return false };
        let waits = self.find_queued(&queued.key).is_some();
        if waits && items.iter().all(|copy| copy.message.id != queued.key) {
            // It is in the conversation already, as it was before this change.
            self.give_up(&queued);
            return true;
        }
        let is_removed = untrack(|| queued.is_removed());
        queued.copy.set(ServerCopy { stored: Some(state), is_removed, ..ServerCopy::default() });
        if waits || self.is_being_sent(&queued.key) {
            self.tell_of_queue();
        } else {
            // The user has removed it meanwhile.
            spawn_local(self.delete_copy(queued, usize::MAX));
        }
        true
    }

    /// Removes a message from the queue, here and on the server.
    pub(in crate::agent_chat) fn remove_queued(self, key: &str) {
        let find = |queue: &Vec<QueuedMessage>| {
            let place = queue.iter().position(|queued| queued.key == key)?;
            Some((place, queue.get(place)?.clone()))
        };
        let Some((place, removed)) = self.queue.with_untracked(find) else { return };
        self.unqueue(key);
        if !self.stays_in_tab() {
            spawn_local(self.delete_copy(removed, place));
        }
    }

    /// Deletes the copy of a message that was removed here. While the server cannot be reached, this is repeated, and
    /// the message is shown at its place in the queue again.
    async fn delete_copy(self, removed: QueuedMessage, place: usize) {
        let Some(path) = self.message_path(&removed.key) else { return };
        loop {
            self.count_queue_change();
            let deleted = http::act(Method::Delete, &path).await;
            if self.is_disposed() {
                return;
            }
            self.count_queue_change();
            // If the server refuses it, the message is shown again with the next list.
            let is_later = |error: ApiError| error.code().status() >= 500 || error.code() == ErrorCode::RateLimited;
            if !deleted.is_err_and(is_later) {
                break;
            }
            self.show_as_removed(&removed, place);
            browser::sleep(RETRY).await;
            // The server may have sent it meanwhile.
            if self.is_disposed() || self.find_queued(&removed.key).is_none() {
                return;
            }
        }
        self.unqueue(&removed.key);
        self.tell_of_queue();
    }

    fn show_as_removed(self, removed: &QueuedMessage, place: usize) {
        // A list may have brought it back.
        let known = self.find_queued(&removed.key);
        if known.as_ref().is_some_and(|known| untrack(|| known.is_removed())) {
            return;
        }
        known.as_ref().unwrap_or(removed).copy.update(|copy| copy.is_removed = true);
        if known.is_none() {
            self.queue.update(|queue| queue.insert(place.min(queue.len()), removed.clone()));
        }
        self.announcement.set(t(Text::QueueRemovedLater).to_owned());
    }

    /// Takes a message out of the queue that was sent or removed elsewhere.
    pub(super) fn give_up(self, gone: &QueuedMessage) {
        self.keep_typed(gone);
        self.unqueue(&gone.key);
    }

    /// Puts the text that the user has typed into a message that is gone into the composer.
    fn keep_typed(self, gone: &QueuedMessage) {
        let ServerCopy { stored, is_removed, .. } = gone.copy.get_untracked();
        let (text, is_edited) = gone.state();
        let typed = if is_edited { gone.typed.get_untracked() } else { text.clone() };
        let known = stored.map_or(text, |(stored, _)| stored);
        let is_new = !typed.trim().is_empty() && typed.trim() != known.trim();
        if is_removed || !is_new {
            return;
        }
        self.add_to_draft(typed.trim());
        if let Some(notices) = self.inner.with_value(|inner| inner.notices) {
            notices.notify(t(Text::QueueEditReturned).to_owned(), MessageStatus::Info, None);
        }
    }

    fn find_queued(self, key: &str) -> Option<QueuedMessage> {
        self.queue.with_untracked(|queue| queue.iter().find(|queued| queued.key == key).cloned())
    }

    fn message_path(self, key: &str) -> Option<String> {
        Some([&self.queue_path()?, "/", &encode_component(key)].concat())
    }

    fn count_queue_change(self) {
        self.inner.update_value(|inner| inner.queue_changes = inner.queue_changes.wrapping_add(1));
    }

    /// Tells the other tabs that the queue has changed.
    fn tell_of_queue(self) {
        if let Some(id) = self.id.get_untracked() {
            tab_sync::broadcast(&id);
        }
    }

    /// Whether a message has left the queue to be sent, or is in the conversation.
    fn is_being_sent(self, key: &str) -> bool {
        self.inner.with_value(|inner| inner.sending_queued.as_ref().is_some_and(|sending| sending.key == key))
            || self.messages.with_untracked(|all| all.iter().any(|message| message.id == key))
    }

    /// Shows the queue as the server has it. Messages that it does not have yet stay.
    pub(super) async fn refresh_queue(self) {
        if self.is_disposed() || self.stays_in_tab() {
            return;
        }
        for _ in 0..ATTEMPTS {
            let Some(path) = self.queue_path() else { return };
            let before = self.inner.with_value(|inner| inner.queue_changes);
            // Without the list, the tab has its own.
            let Ok(KeptQueue { items }) = http::get(&path).await else { return };
            if self.is_disposed() {
                return;
            }
            let is_current = self.inner.with_value(|inner| inner.queue_changes == before);
            if is_current && self.queue_path().is_some_and(|now| now == path) {
                return self.adopt(items);
            }
        }
    }

    fn adopt(self, kept: Vec<KeptMessage>) {
        let known = self.queue.get_untracked();
        let is_kept = |key: &str| kept.iter().any(|copy| copy.message.id == key);
        // A copy that is gone was sent or removed.
        let stays =
            |queued: &QueuedMessage| is_kept(&queued.key) || queued.copy.with_untracked(|copy| copy.stored.is_none());
        let (mut queue, gone): (Vec<_>, Vec<_>) = known.iter().cloned().partition(stays);
        for queued in &gone {
            self.keep_typed(queued);
        }
        for copy in kept {
            match known.iter().find(|queued| queued.key == copy.message.id) {
                Some(queued) => adopt_copy(queued, copy),
                None if self.is_being_sent(&copy.message.id) => {}
                None => queue.push(from_copy(copy)),
            }
        }
        let is_same = queue.len() == known.len() && queue.iter().zip(&known).all(|(a, b)| a.key == b.key);
        if !is_same {
            self.queue.set(queue);
        }
    }
}

/// Takes over what another tab has changed, unless the message was changed here.
fn adopt_copy(queued: &QueuedMessage, copy: KeptMessage) {
    let (text, is_edited) = queued.state();
    let newer = copy.message.text();
    let mut known = queued.copy.get_untracked();
    let is_unchanged = !is_edited && known.stored.as_ref().is_some_and(|(stored, _)| *stored == text);
    if is_unchanged && newer != text {
        known.stored = Some((newer.clone(), false));
        queued.text.set(newer);
    }
    let is_own_edit = is_edited || known.stored.as_ref().is_some_and(|(_, is_edited)| *is_edited);
    known.is_held = copy.is_held && !is_own_edit;
    known.refusal = copy.refusal;
    if known != queued.copy.get_untracked() {
        queued.copy.set(known);
    }
}

/// A message that another tab has added.
fn from_copy(copy: KeptMessage) -> QueuedMessage {
    let KeptMessage { message, is_held, refusal } = copy;
    let text = message.text();
    let files = message.parts.into_iter().filter_map(OutgoingFile::from_part).collect();
    let out = OutgoingMessage { text: text.clone(), files, metadata: message.metadata.unwrap_or_default() };
    let queued = queued_message(out, message.id);
    queued.copy.set(ServerCopy { stored: Some((text, false)), is_held, refusal, ..ServerCopy::default() });
    queued
}
