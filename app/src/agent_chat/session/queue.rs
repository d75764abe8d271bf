//! Messages sent while an answer is being written: they wait for its end, or interrupt it. The
//! queue survives a reload in its tab, and the server has copies (`kept_queue.rs`). Each message has
//! its id from the start, so that the server accepts it once, even if two tabs send it.

use super::{Phase, Session};
use crate::actions::Actions;
use crate::agent_chat::chunk_tables::SESSION;
use crate::agent_chat::composer::drafts::user_mark;
use crate::agent_chat::composer::outgoing::{OutgoingFile, OutgoingMessage, QueuedMessage, ServerCopy};
use crate::prelude::*;
use crate::texts::{self, Text};
use crate::ui::browser;
use serde_json::{Value, json};
use wire::UiPart;
use wire::api::Outcome;
use wire::page::WhileRunning;

/// The maximum number of waiting messages.
pub(super) const MAX_QUEUED: usize = 20;

impl Session {
    /// Adds a message to the queue, or stops the current answer and sends it next.
    pub(super) fn enqueue(self, out: OutgoingMessage) {
        if self.queue.with_untracked(Vec::len) >= MAX_QUEUED {
            self.composer_error.set(Some(texts::fill_count(Text::QueueFull, MAX_QUEUED)));
            return;
        }
        self.clear_composer(&out);
        self.add_to_queue(out);
        self.focus_requests.update(|count| *count += 1);
    }

    /// Adds a message to the queue, unless it is full; or first, and stops the current answer.
    pub(super) fn add_to_queue(self, out: OutgoingMessage) {
        if self.queue.with_untracked(Vec::len) >= MAX_QUEUED {
            return;
        }
        let interrupts =
            self.block.with_value(|place| place.properties.sender.while_running == WhileRunning::Interrupt);
        if interrupts {
            self.put_first(out, browser::random_id());
            self.inner.update_value(|inner| inner.stopped_for_queue = true);
            self.stop();
        } else {
            self.queue.update(|queue| queue.push(queued_message(out, browser::random_id())));
        }
    }

    /// Puts a message first in the queue, under this id, because the server may have received it
    /// already.
    pub(super) fn put_first(self, out: OutgoingMessage, id: String) {
        self.queue.update(|queue| queue.insert(0, queued_message(out, id)));
    }

    /// Sends the next waiting message if the last answer is complete. An answer that failed, was
    /// stopped or waits for the user puts the queue on hold.
    pub(super) fn send_waiting(self) {
        let interrupting = self.inner.try_update_value(|inner| std::mem::take(&mut inner.stopped_for_queue));
        if self.queue.with_untracked(Vec::is_empty) {
            return;
        }
        match self.newest_outcome() {
            Some(Outcome::Stopped) if interrupting == Some(true) => self.send_first(),
            // Another tab may have changed the messages, or sent the first one.
            Some(Outcome::Done) => leptos::task::spawn_local(async move {
                self.refresh_queue().await;
                if !self.is_disposed() && self.newest_outcome() == Some(Outcome::Done) {
                    self.send_first();
                }
            }),
            _ => {}
        }
    }

    fn newest_outcome(self) -> Option<Outcome> {
        self.newest_answer().and_then(|answer| answer.metadata.with_untracked(|about| about.outcome))
    }

    /// The first message that is to be sent. Tracked.
    pub(in crate::agent_chat) fn next_queued(self) -> Option<QueuedMessage> {
        self.queue.with(|queue| queue.iter().find(|queued| !queued.is_removed()).cloned())
    }

    /// Sends the next message because the user asks for it, also one that waits for an edit in another tab. The
    /// list is loaded first, because another tab may have changed the message, or sent it.
    pub(in crate::agent_chat) fn send_next(self) {
        let Some(wanted) = untrack(|| self.next_queued()) else { return };
        leptos::task::spawn_local(async move {
            self.refresh_queue().await;
            if self.is_disposed() {
                return;
            }
            let next = untrack(|| self.next_queued());
            if let Some(next) = next.filter(|next| next.key == wanted.key) {
                next.copy.update(|copy| copy.is_held = false);
                self.send_first();
            }
        });
    }

    /// Sends the first message of the queue, unless it is being edited.
    fn send_first(self) {
        self.drop_sent();
        let first = untrack(|| self.next_queued());
        let is_held =
            |first: &QueuedMessage| first.is_edited.get_untracked() || first.copy.with_untracked(|copy| copy.is_held);
        let Some(first) = first.filter(|first| !is_held(first)) else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        let text = first.text.get_untracked();
        let out = OutgoingMessage { text, files: first.files.clone(), metadata: first.metadata.clone() };
        let send = move |out: OutgoingMessage| {
            let id = first.key.clone();
            // It stays in the storage until the server has accepted it.
            self.inner.update_value(|inner| inner.sending_queued = Some(first));
            self.unqueue(&id);
            self.send_as(out, Some(id));
        };
        self.ask_page(out, Box::new(send));
    }

    /// Removes messages that a duplicated tab has sent already.
    fn drop_sent(self) {
        let is_known = |queued: &&QueuedMessage| {
            self.messages.with_untracked(|all| all.iter().any(|message| message.id == queued.key))
        };
        let sent: Vec<_> = self.queue.with_untracked(|queue| queue.iter().filter(is_known).cloned().collect());
        for queued in &sent {
            self.give_up(queued);
        }
    }

    /// Restores the messages that waited in this tab before the page was loaded, and saves the
    /// queue from now on.
    pub(in crate::agent_chat) fn persist_queue(self) {
        let Some(place) = self.queue_key() else { return };
        let notices = use_context::<Actions>();
        self.inner.update_value(|inner| inner.notices = notices);
        if self.queue.with_untracked(Vec::is_empty) {
            let kept = browser::read_session_storage(&place).and_then(|kept| serde_json::from_str(&kept).ok());
            let kept: Vec<QueuedMessage> = from_json(&kept.unwrap_or_default()).collect();
            if !kept.is_empty() {
                self.queue.set(kept);
                self.drop_sent();
            }
        }
        Effect::new(move |_| {
            let waits = self.queue.with(|queue| queue.iter().map(to_json).collect::<Vec<_>>());
            let leaving = self.inner.with_value(|inner| inner.sending_queued.as_ref().map(to_json));
            let all: Vec<Value> = leaving.into_iter().chain(waits).collect();
            browser::write_session_storage(&place, (!all.is_empty()).then(|| wire::json::text(&Value::from(all))));
        });
        if self.phase.get_untracked() == Phase::Idle {
            self.send_waiting();
        }
        self.keep_queue();
    }

    /// Requests the code for the messages that waited in this tab before the page was loaded.
    pub(super) fn request_code_of_queue(self) {
        if self.queue_key().is_some_and(|key| browser::read_session_storage(&key).is_some()) {
            SESSION.request();
        }
    }

    /// Clears the message being sent: the server has accepted it, or it is back in the queue.
    pub(super) fn finish_sending_queued(self) {
        let left = self.inner.try_update_value(|inner| inner.sending_queued.take()).flatten();
        if left.is_some() {
            // Saves the queue without it.
            self.queue.update(|_| ());
        }
    }

    fn queue_key(self) -> Option<String> {
        let id = self.id.get_untracked()?;
        Some(
            self.block
                .with_value(|place| format!("cw-queue/{}/{}/{}/{id}", user_mark(), place.page_id, place.block_id)),
        )
    }

    /// Removes a message from the queue.
    pub(super) fn unqueue(self, key: &str) {
        self.queue.update(|queue| queue.retain(|queued| queued.key != key));
    }

    /// Starts editing a waiting message.
    pub(in crate::agent_chat) fn edit_queued(queued: &QueuedMessage) {
        queued.typed.set(queued.text.get_untracked());
        queued.is_edited.set(true);
    }

    /// Ends editing with this text; a message without text and files is removed. If nothing holds
    /// the queue, the next message is sent.
    pub(in crate::agent_chat) fn end_edit_queued(self, queued: &QueuedMessage, text: Option<String>) {
        queued.is_edited.set(false);
        if let Some(text) = text {
            let text = text.trim().to_owned();
            if text.is_empty() && queued.files.is_empty() {
                self.remove_queued(&queued.key);
            } else {
                queued.text.set(text);
            }
        }
        self.focus_requests.update(|count| *count += 1);
        self.send_waiting();
    }
}

pub(super) fn queued_message(out: OutgoingMessage, key: String) -> QueuedMessage {
    let OutgoingMessage { text, files, metadata } = out;
    QueuedMessage {
        key,
        text: ArcRwSignal::new(text),
        files,
        metadata,
        is_edited: ArcRwSignal::new(false),
        typed: ArcRwSignal::new(String::new()),
        copy: ArcRwSignal::new(ServerCopy::default()),
    }
}

/// Serializes a message for the storage. Tracks the text and the copy, which may change while it waits.
fn to_json(queued: &QueuedMessage) -> Value {
    let file = |file: &OutgoingFile| json!({ "part": UiPart::File(file.part.clone()), "size": file.size });
    let files: Vec<Value> = queued.files.iter().map(file).collect();
    let stored = queued.copy.with(|copy| copy.stored.as_ref().map(|(text, _)| text.clone()));
    json!({
        "id": queued.key,
        "text": queued.text.get(),
        "files": files,
        "metadata": queued.metadata,
        "stored": stored,
        "isRemoved": queued.is_removed(),
    })
}

/// Reads messages from the storage.
fn from_json(kept: &Value) -> impl Iterator<Item = QueuedMessage> {
    let file = |own: &Value| {
        let part = serde_json::from_value(own.get("part")?.clone()).ok()?;
        let file = OutgoingFile::from_part(part)?;
        Some(OutgoingFile { size: own.get("size").and_then(Value::as_u64), ..file })
    };
    let queued = move |own: &Value| {
        let text = |key: &str| own.get(key).and_then(Value::as_str).map(str::to_owned);
        let files = own.get("files").and_then(Value::as_array).into_iter().flatten().filter_map(file).collect();
        let metadata = own.get("metadata").cloned().unwrap_or_default();
        let queued = queued_message(OutgoingMessage { text: text("text")?, files, metadata }, text("id")?);
        // Whether it was being edited is not known, so its state is stored again.
        let stored = text("stored").map(|text| (text, true));
        let is_removed = own.get("isRemoved").and_then(Value::as_bool) == Some(true);
        queued.copy.set(ServerCopy { stored, is_removed, ..ServerCopy::default() });
        Some(queued)
    };
    kept.as_array().into_iter().flatten().filter_map(queued).take(MAX_QUEUED)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_message_survives_a_reload() {
        let check = |stored: Option<&str>, is_removed: bool| {
            let out = OutgoingMessage { text: "And tomorrow?".to_owned(), ..OutgoingMessage::default() };
            let queued = queued_message(out, "next".to_owned());
            // Whether it was being edited is not kept.
            let copy =
                ServerCopy { stored: stored.map(|text| (text.to_owned(), true)), is_removed, ..ServerCopy::default() };
            queued.copy.set(copy.clone());
            let kept = Value::from(vec![untrack(|| to_json(&queued))]);
            let read: Vec<_> =
                from_json(&kept).map(|read| (read.state(), read.copy.get_untracked(), read.key)).collect();
            assert_eq!(read, [(("And tomorrow?".to_owned(), false), copy, "next".to_owned())]);
        };
        check(None, false);
        check(Some("And tomorrow?"), false);
        check(Some("And today?"), true);
    }
}
