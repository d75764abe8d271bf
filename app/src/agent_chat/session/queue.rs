//! What is sent while an answer is being written: it waits for the answer's end, or ends it.

use super::{Phase, Session};
use crate::agent_chat::browser;
use crate::agent_chat::outgoing::{Outgoing, Queued};
use crate::reactive::ArcRwSignal;
use wire::api::Outcome;

/// Messages that may wait.
const MAX_QUEUED: usize = 20;

impl Session {
    /// Puts what is to be sent behind the answer that is being written, or in its place.
    pub(super) fn enqueue(self, out: Outgoing) {
        if self.queue.with_untracked(Vec::len) >= MAX_QUEUED {
            self.refusal.set(Some(format!("{MAX_QUEUED} messages are waiting already.")));
            return;
        }
        self.sent_from_composer(&out);
        let interrupts = self.place.with_value(|place| place.properties.sender.interrupts);
        if interrupts {
            self.put_first(out);
            self.inner.update_value(|inner| inner.interrupting = true);
            self.stop();
        } else {
            self.queue.update(|queue| queue.push(queued(out)));
        }
        self.focus.update(|count| *count += 1);
    }

    /// Puts something before everything else that waits.
    pub(super) fn put_first(self, out: Outgoing) {
        self.queue.update(|queue| queue.insert(0, queued(out)));
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
        let first = self.queue.with_untracked(|queue| queue.first().cloned());
        let Some(first) = first.filter(|first| !first.is_edited.get_untracked()) else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        let out = Outgoing { text: first.text.get_untracked(), files: first.files.clone() };
        let send = move |out: Outgoing| {
            self.unqueue(&first.key);
            self.send_now(out);
        };
        self.ask_page(out, Box::new(send));
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

fn queued(out: Outgoing) -> Queued {
    Queued {
        key: browser::random_id(),
        text: ArcRwSignal::new(out.text),
        files: out.files,
        is_edited: ArcRwSignal::new(false),
    }
}
