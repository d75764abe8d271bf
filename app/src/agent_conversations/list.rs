//! The list's state and what can be done to it.

use super::merge::merge;
use super::when::use_now;
use crate::api::{ApiError, delete_conversation, list_conversations, rename_conversation};
use crate::blocks::control::focus;
use crate::chat_context::{ChatContext, use_chat_context};
use crate::erase::effect;
use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::time::Duration;
use wire::api::{ConversationList, ConversationSummary};

/// While an answer is being written somewhere, the list looks this often whether it has ended.
const WATCH_EVERY: Duration = Duration::from_secs(5);

/// The conversations that are loaded; a cheap handle.
#[derive(Clone, Copy)]
pub struct Conversations {
    items: RwSignal<Vec<Entry>>,
    next: RwSignal<Option<String>>,
    /// What went wrong last.
    pub error: RwSignal<Option<ApiError>>,
    /// Whether a further page is on its way.
    pub loading: RwSignal<bool>,
    /// The conversation that the menu or the dialog is about.
    pub subject: RwSignal<Option<ConversationSummary>>,
    /// The conversation that is being renamed.
    pub renaming: RwSignal<Option<String>>,
    /// The time that the lines count from.
    pub now: ReadSignal<Option<i64>>,
    /// The id of the link that takes the focus when the row that had it is gone.
    pub fallback_focus: StoredValue<String>,
    chat: ChatContext,
    /// Counts what makes an answer that is still on its way out of date.
    generation: StoredValue<u64>,
}

/// One conversation. Its summary is a signal of its own, so that a change redraws its text and nothing else.
#[derive(Clone)]
pub struct Entry {
    /// Which.
    pub id: String,
    /// Its line.
    pub summary: ArcRwSignal<ConversationSummary>,
}

impl Conversations {
    /// A list with its first page, or with the error that came instead.
    pub fn new(first: Result<ConversationList, ApiError>, fallback_focus: String) -> Self {
        let (first, error) = match first {
            Ok(first) => (first, None),
            Err(error) => (ConversationList { items: Vec::new(), next: None }, Some(error)),
        };
        Self {
            items: RwSignal::new(first.items.into_iter().map(Entry::new).collect()),
            next: RwSignal::new(first.next),
            error: RwSignal::new(error),
            loading: RwSignal::new(false),
            subject: RwSignal::new(None),
            renaming: RwSignal::new(None),
            now: use_now(),
            fallback_focus: StoredValue::new(fallback_focus),
            chat: use_chat_context(),
            generation: StoredValue::new(0),
        }
    }

    /// The conversations, newest first. Tracked.
    pub fn items(&self) -> Vec<Entry> {
        self.items.get()
    }

    /// Whether there are none. Tracked.
    pub fn is_empty(&self) -> bool {
        self.items.with(Vec::is_empty)
    }

    /// Whether there are more on the server. Tracked.
    pub fn has_more(&self) -> bool {
        self.next.with(Option::is_some)
    }

    /// Loads the list anew when the chat says that something changed, when the reader comes back to the window, and now and then
    /// while an answer is being written.
    pub fn keep_fresh(self) {
        let mut last = None;
        effect(move || {
            let count = self.chat.changed.get();
            if last.replace(count).is_some_and(|last| last != count) {
                self.reload();
            }
        });
        effect(move || {
            let focused = window_event_listener(ev::focus, move |_| self.reload());
            on_cleanup(move || focused.remove());
        });
        let running = Memo::new(move |_| {
            self.items.with(|items| items.iter().any(|item| item.summary.with(|summary| summary.running)))
        });
        effect(move || {
            if running.get()
                && let Ok(timer) = set_interval_with_handle(move || self.reload(), WATCH_EVERY)
            {
                // Before the next time, and at the end.
                on_cleanup(move || timer.clear());
            }
        });
    }

    /// Loads the first page again. Of several that overlap, the last one counts.
    pub fn reload(self) {
        let asked = self.outdate();
        spawn_local(async move {
            let answer = list_conversations(None).await;
            if self.generation.try_get_value() != Some(asked) {
                return;
            }
            match answer {
                Ok(fresh) => self.accept(fresh),
                Err(error) => self.fail(error),
            }
        });
    }

    fn outdate(self) -> u64 {
        self.generation.try_update_value(|count| *count += 1);
        self.generation.try_get_value().unwrap_or_default()
    }

    /// Loads the next page.
    pub fn load_more(self) {
        let Some(cursor) = self.next.get_untracked() else { return };
        if self.loading.get_untracked() {
            return;
        }
        self.loading.set(true);
        spawn_local(async move {
            match list_conversations(Some(cursor)).await {
                Ok(page) => {
                    self.error.try_set(None);
                    self.next.try_set(page.next);
                    self.items.try_update(|items| append(items, page.items));
                }
                Err(error) => self.fail(error),
            }
            self.loading.try_set(false);
        });
    }

    /// Renames a conversation: at once here, then on the server; what was there before comes back when that fails.
    pub fn rename(self, id: String, title: String) {
        let title = title.trim().to_owned();
        let Some(entry) = self.items.with_untracked(|items| items.iter().find(|item| item.id == id).cloned()) else {
            return;
        };
        let before = entry.summary.with_untracked(|summary| summary.title.clone());
        if title.is_empty() || title == before {
            return;
        }
        entry.summary.update(|summary| summary.title.clone_from(&title));
        spawn_local(async move {
            match rename_conversation(id, title).await {
                Ok(_) => self.chat.bump(),
                Err(error) => {
                    entry.summary.update(|summary| summary.title = before);
                    self.fail(error);
                }
            }
        });
    }

    /// Deletes a conversation, then shows a new one if it was the selected one.
    pub fn delete(self, id: String) {
        spawn_local(async move {
            match delete_conversation(id.clone()).await {
                Ok(_) => {
                    self.outdate();
                    self.items.try_update(|items| items.retain(|item| item.id != id));
                    self.fallback_focus.try_with_value(|link| focus(link));
                    if self.chat.conversation.try_get_untracked().flatten().as_deref() == Some(id.as_str()) {
                        self.chat.select(None, true);
                    }
                }
                Err(error) => self.fail(error),
            }
        });
    }

    fn accept(self, fresh: ConversationList) {
        // `try_`: the reader may have gone to another page meanwhile.
        let known = self.items.try_get_untracked().unwrap_or_default();
        let merged = merge(known.iter().map(|item| item.summary.get_untracked()).collect(), fresh.clone());
        let more_known = merged.items.len() > fresh.items.len();
        if !more_known {
            self.next.try_set(merged.next);
        }
        self.items.try_set(reconcile(known, merged.items));
        self.error.try_set(None);
    }

    fn fail(self, error: ApiError) {
        self.error.try_set(Some(error));
    }
}

impl Entry {
    fn new(summary: ConversationSummary) -> Self {
        Self { id: summary.id.clone(), summary: ArcRwSignal::new(summary) }
    }
}

/// The known entries in the new order with their new content, so that rows keep their elements, focus included.
fn reconcile(known: Vec<Entry>, summaries: Vec<ConversationSummary>) -> Vec<Entry> {
    let entry = |summary: ConversationSummary| match known.iter().find(|entry| entry.id == summary.id) {
        Some(entry) => {
            if entry.summary.with_untracked(|now| *now != summary) {
                entry.summary.set(summary);
            }
            entry.clone()
        }
        None => Entry::new(summary),
    };
    summaries.into_iter().map(entry).collect()
}

/// Adds a further page; one that moved up meanwhile is there already.
fn append(items: &mut Vec<Entry>, page: Vec<ConversationSummary>) {
    for summary in page {
        if items.iter().all(|item| item.id != summary.id) {
            items.push(Entry::new(summary));
        }
    }
}

/// The list around.
pub fn use_conversations() -> Conversations {
    expect_context()
}
