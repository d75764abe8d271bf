//! What is sent while an answer is being written: it waits for the answer's end, or ends it. It waits on over a reload, in the tab in which it
//! was written; each message has its id from the start, so that the server takes it once, whoever sends it again.

use super::{Phase, Session};
use crate::agent_chat::browser;
use crate::agent_chat::drafts::reader;
use crate::agent_chat::outgoing::{Outgoing, OutgoingFile, Queued};
use crate::prelude::*;
use crate::texts::{self, Text};
use serde_json::{Value, json};
use wire::UiPart;
use wire::api::Outcome;

/// Messages that may wait.
const MAX_QUEUED: usize = 20;

impl Session {
    /// Puts what is to be sent behind the answer that is being written, or in its place.
    pub(super) fn enqueue(self, out: Outgoing) {
        if self.queue.with_untracked(Vec::len) >= MAX_QUEUED {
            self.refusal.set(Some(texts::count(Text::QueueFull, MAX_QUEUED)));
            return;
        }
        self.sent_from_composer(&out);
        let interrupts = self.place.with_value(|place| place.properties.sender.interrupts);
        if interrupts {
            self.put_first(out, browser::random_id());
            self.inner.update_value(|inner| inner.interrupting = true);
            self.stop();
        } else {
            self.queue.update(|queue| queue.push(queued(out, browser::random_id())));
        }
        self.focus.update(|count| *count += 1);
    }

    /// Puts something before everything else that waits, as the message with this id: the server may have it already.
    pub(super) fn put_first(self, out: Outgoing, id: String) {
        self.queue.update(|queue| queue.insert(0, queued(out, id)));
    }

    /// After an answer: sends what waits, if that answer has come to its end. One that failed, was stopped or waits for the user holds
    /// the others back.
    pub(super) fn send_waiting(self) {
        let interrupting = self.inner.try_update_value(|inner| std::mem::take(&mut inner.interrupting));
        let outcome = self.newest_answer().and_then(|answer| answer.metadata.with_untracked(|about| about.outcome));
        let is_free = match outcome {
            Some(Outcome::Done) => true,
            Some(Outcome::Stopped) => interrupting == Some(true),
            _ => false,
        };
        if is_free {
            self.send_first();
        }
    }

    /// Sends what has waited longest.
    pub(in crate::agent_chat) fn send_first(self) {
        self.drop_known();
        let first = self.queue.with_untracked(|queue| queue.first().cloned());
        let Some(first) = first.filter(|first| !first.is_edited.get_untracked()) else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        let out = Outgoing { text: first.text.get_untracked(), files: first.files.clone() };
        let send = move |out: Outgoing| {
            let id = first.key.clone();
            // It stays in the storage until the server has it.
            self.inner.update_value(|inner| inner.leaving = Some(first));
            self.unqueue(&id);
            self.send_as(out, Some(id));
        };
        self.ask_page(out, Box::new(send));
    }

    /// A tab that was duplicated may have sent some of it.
    fn drop_known(self) {
        let is_known =
            |queued: &Queued| self.messages.with_untracked(|all| all.iter().any(|message| message.id == queued.key));
        if self.queue.with_untracked(|queue| queue.iter().any(is_known)) {
            self.queue.update(|queue| queue.retain(|queued| !is_known(queued)));
        }
    }

    /// Takes over what waited in this tab before the page was loaded, and keeps what waits from now on.
    pub(super) fn keep_queue(self) {
        let Some(place) = self.queue_place() else { return };
        if self.queue.with_untracked(Vec::is_empty) {
            let kept = browser::kept_in_tab(&place).and_then(|kept| serde_json::from_str(&kept).ok());
            let kept: Vec<Queued> = read(&kept.unwrap_or_default()).collect();
            if !kept.is_empty() {
                self.queue.set(kept);
                self.drop_known();
            }
        }
        Effect::new(move |_| {
            let waits = self.queue.with(|queue| queue.iter().map(written).collect::<Vec<_>>());
            let leaving = self.inner.with_value(|inner| inner.leaving.as_ref().map(written));
            let all: Vec<Value> = leaving.into_iter().chain(waits).collect();
            browser::keep_in_tab(&place, (!all.is_empty()).then(|| wire::json::text(&Value::from(all))));
        });
        if self.phase.get_untracked() == Phase::Idle {
            self.send_waiting();
        }
    }

    /// The server has what was sent last, or it waits again.
    pub(super) fn has_left(self) {
        let left = self.inner.try_update_value(|inner| inner.leaving.take()).flatten();
        if left.is_some() {
            // Written again, without it.
            self.queue.update(|_| ());
        }
    }

    fn queue_place(self) -> Option<String> {
        let id = self.id.get_untracked()?;
        Some(self.place.with_value(|place| format!("cw-queue/{}/{}/{}/{id}", reader(), place.page_id, place.block_id)))
    }

    /// Takes something out that waits.
    pub(in crate::agent_chat) fn unqueue(self, key: &str) {
        self.queue.update(|queue| queue.retain(|queued| queued.key != key));
    }

    /// Begins to change something that waits.
    pub(in crate::agent_chat) fn edit_queued(queued: &Queued) {
        queued.is_edited.set(true);
    }

    /// Has it wait again with this text; without any, and without files, it is taken out. It is sent at once when nothing is waited for.
    pub(in crate::agent_chat) fn end_edit_queued(self, queued: &Queued, text: Option<String>) {
        queued.is_edited.set(false);
        if let Some(text) = text {
            let text = text.trim().to_owned();
            if text.is_empty() && queued.files.is_empty() {
                self.unqueue(&queued.key);
            } else {
                queued.text.set(text);
            }
        }
        self.focus.update(|count| *count += 1);
        self.send_waiting();
    }
}

fn queued(out: Outgoing, key: String) -> Queued {
    Queued { key, text: ArcRwSignal::new(out.text), files: out.files, is_edited: ArcRwSignal::new(false) }
}

/// For the storage. Tracks the text, which may be changed while it waits.
fn written(queued: &Queued) -> Value {
    let file = |file: &OutgoingFile| json!({ "part": UiPart::File(file.part.clone()), "size": file.size });
    let files: Vec<Value> = queued.files.iter().map(file).collect();
    json!({ "id": queued.key, "text": queued.text.get(), "files": files })
}

/// Out of the storage.
fn read(kept: &Value) -> impl Iterator<Item = Queued> {
    let file = |own: &Value| {
        let part = serde_json::from_value(own.get("part")?.clone()).ok()?;
        let file = OutgoingFile::known(part)?;
        Some(OutgoingFile { size: own.get("size").and_then(Value::as_u64), ..file })
    };
    let queued = move |own: &Value| {
        let text = |key: &str| own.get(key).and_then(Value::as_str).map(str::to_owned);
        let files = own.get("files").and_then(Value::as_array).into_iter().flatten().filter_map(file).collect();
        Some(queued(Outgoing { text: text("text")?, files }, text("id")?))
    };
    kept.as_array().into_iter().flatten().filter_map(queued).take(MAX_QUEUED)
}
