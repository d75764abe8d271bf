//! The list's state and what can be done to it.

use super::merge;
use super::organizing::{ORGANIZING, Organizing};
use super::when::use_now;
use crate::api::{ApiError, change_conversations, folders, list_conversations};
use crate::chat_context::{ChatContext, use_chat_context};
use crate::chunks::Missing;
use crate::prelude::*;
use crate::tabs;
use leptos::ev;
use std::time::Duration;
use wire::api::{ConversationList, ConversationSummary};
use wire::order::{ConversationChange, Folder, FolderList, ListFilter, Share};

/// While an answer is being written somewhere, the list looks this often whether it has ended.
const WATCH_EVERY: Duration = Duration::from_secs(5);

/// Another device may have changed something: while the page is seen, the list looks this often.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The conversations that are loaded; a cheap handle.
#[derive(Clone, Copy)]
pub struct Conversations {
    pub(super) items: RwSignal<Vec<Entry>>,
    next: RwSignal<Option<String>>,
    /// What went wrong last.
    pub error: RwSignal<Option<ApiError>>,
    /// Whether a further page is on its way.
    pub loading: RwSignal<bool>,
    /// Which are listed.
    pub filter: RwSignal<ListFilter>,
    /// All folders.
    pub folders: RwSignal<Vec<Folder>>,
    /// The conversation that the menu is about.
    pub subject: RwSignal<Option<ConversationSummary>>,
    /// Those that are selected to be changed together; none while nothing is selected.
    pub chosen: RwSignal<Option<Vec<String>>>,
    /// Whether a menu or a selection was opened, so that menu and dialogs are there from then on.
    pub organizes: Memo<bool>,
    /// Those that the dialog moves to a folder.
    pub moving: StoredValue<Vec<String>>,
    /// The links to copies of the one that the dialog is about.
    pub shares: RwSignal<Vec<Share>>,
    /// Those that were just deleted.
    pub deleted: RwSignal<Vec<String>>,
    /// The conversation that is being renamed.
    pub renaming: RwSignal<Option<String>>,
    /// The time that the lines count from.
    pub now: ReadSignal<Option<i64>>,
    /// The id of the link that takes the focus when the row that had it is gone.
    pub fallback_focus: StoredValue<String>,
    pub(super) chat: ChatContext,
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
    /// Says that a part of the list could not be loaded.
    pub(super) fn lacks_code(self) {
        // The list may be gone by now.
        let _ = self.error.try_set(Some(Missing::told().into()));
    }

    /// A list with its first page, or with the error that came instead.
    pub fn new(first: Result<ConversationList, ApiError>, fallback_focus: String) -> Self {
        let (first, error) = match first {
            Ok(first) => (first, None),
            Err(error) => (ConversationList { items: Vec::new(), next: None }, Some(error)),
        };
        let (subject, chosen) = (RwSignal::new(None), RwSignal::new(None));
        let has_begun = move || subject.with(Option::is_some) || chosen.with(Option::is_some);
        Self {
            items: RwSignal::new(first.items.into_iter().map(Entry::new).collect()),
            next: RwSignal::new(first.next),
            error: RwSignal::new(error),
            loading: RwSignal::new(false),
            filter: RwSignal::new(ListFilter::default()),
            folders: RwSignal::new(Vec::new()),
            subject,
            chosen,
            organizes: Memo::new(move |before: Option<&bool>| before == Some(&true) || has_begun()),
            moving: StoredValue::new(Vec::new()),
            shares: RwSignal::new(Vec::new()),
            deleted: RwSignal::new(Vec::new()),
            renaming: RwSignal::new(None),
            now: use_now(),
            fallback_focus: StoredValue::new(fallback_focus),
            chat: use_chat_context(),
            generation: StoredValue::new(0),
        }
    }

    /// The conversations in their order, at most `most` of them after the first `skipped`. Tracked.
    pub fn part(&self, skipped: usize, most: usize) -> Vec<Entry> {
        self.items.with(|items| items.iter().skip(skipped).take(most).cloned().collect())
    }

    /// How many are loaded. Tracked.
    pub fn count(&self) -> usize {
        self.items.with(Vec::len)
    }

    /// As [`Conversations::count`], not tracked.
    pub fn count_untracked(&self) -> usize {
        self.items.with_untracked(Vec::len)
    }

    /// Whether there are none. Tracked.
    pub fn is_empty(&self) -> bool {
        self.items.with(Vec::is_empty)
    }

    /// Whether there are more on the server. Tracked.
    pub fn has_more(&self) -> bool {
        self.next.with(Option::is_some)
    }

    /// Loads the list anew when the chat or another tab says that something changed, when the reader comes back to the window, and now
    /// and then, more often while an answer is being written.
    pub fn keep_fresh(self) {
        let looks = RwSignal::new(0_u32);
        let mut last = None;
        Effect::new(move |_| {
            let count = self.chat.changed.get();
            if last.replace(count).is_some_and(|last| last != count) {
                self.reload();
            }
        });
        Effect::new(move |_| tabs::hear(move |_| self.reload()));
        Effect::new(move |_| {
            let focused = window_event_listener(ev::focus, move |_| {
                looks.update(|looks| *looks += 1);
                self.reload();
            });
            on_cleanup(move || focused.remove());
        });
        // Not tracked one by one, of which there may be thousands: whoever changes whether one runs sets the items.
        let running = Memo::new(move |_| {
            self.items.with(|items| items.iter().any(|item| item.summary.with_untracked(|summary| summary.running)))
        });
        Effect::new(move |_| {
            let every = if running.get() { WATCH_EVERY } else { LOOK_EVERY };
            let look = move || {
                if is_visible() {
                    self.reload();
                }
            };
            if let Ok(timer) = set_interval_with_handle(look, every) {
                // Before the next time, and at the end.
                on_cleanup(move || timer.clear());
            }
        });
        Effect::new(move |_| self.load_folders(None, None));
        self.tell_title();
        self.mark_read(looks);
    }

    /// Tells the page the title of the selected conversation, which may have come, or been changed, here.
    fn tell_title(self) {
        let title = Memo::new(move |_| {
            let shown = self.chat.conversation.get()?;
            let entry = self.items.with(|items| items.iter().find(|item| item.id == shown).cloned())?;
            Some(entry.summary.with(|summary| summary.title.clone()))
        });
        Effect::new(move |_| {
            // One that is not listed is known to the chat.
            if let Some(title) = title.get() {
                self.chat.learn_title(Some(&title));
            }
        });
    }

    /// What the reader has before him is read; `looks` counts his returns. Each state of a conversation is marked once: a server that
    /// refuses is not asked again and again.
    fn mark_read(self, looks: RwSignal<u32>) {
        let unread = Memo::new(move |_| {
            let shown = self.chat.conversation.get()?;
            let entry = self.items.with(|items| items.iter().find(|item| item.id == shown).cloned())?;
            entry.summary.with(|summary| summary.unread.then_some((shown, summary.updated_at)))
        });
        let mut last = None;
        Effect::new(move |_| {
            looks.track();
            let now = unread.get();
            if let Some((id, _)) = now.clone().filter(|_| is_visible())
                && last != now
            {
                last = now;
                if let Some(entry) = self.entry(&id) {
                    entry.summary.update(|summary| summary.unread = false);
                }
                let read = ConversationChange { unread: Some(false), ..ConversationChange::default() };
                self.tell(vec![id], read, Box::new(|| ()));
            }
        });
    }

    /// Lists others.
    pub fn show(self, filter: ListFilter) {
        self.chosen.set(None);
        self.items.set(Vec::new());
        self.next.set(None);
        self.filter.set(filter);
        self.reload();
    }

    /// Loads the folders; before that one is made, renamed or deleted, as [`folders`] says.
    pub fn load_folders(self, id: Option<String>, name: Option<String>) {
        leptos::task::spawn_local(async move {
            match folders(id, name).await {
                Ok(FolderList { items }) => {
                    self.folders.try_set(items);
                }
                Err(error) => self.fail(error),
            }
        });
    }

    /// Loads the first page again. Of several that overlap, the last one counts.
    pub fn reload(self) {
        let asked = self.outdate();
        leptos::task::spawn_local(async move {
            let Some(filter) = self.filter.try_get_untracked() else { return };
            let answer = list_conversations(filter, None).await;
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
        let filter = self.filter.get_untracked();
        leptos::task::spawn_local(async move {
            let answer = list_conversations(filter.clone(), Some(cursor)).await;
            match answer {
                // Meanwhile others may be listed.
                Ok(_) if self.filter.try_get_untracked().as_ref() != Some(&filter) => {}
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

    /// Tells the server of a change, and does what follows from it; the server's word is the last.
    pub(super) fn tell(self, ids: Vec<String>, change: ConversationChange, then: Box<dyn FnOnce()>) {
        self.outdate();
        leptos::task::spawn_local(async move {
            match change_conversations(ids, change).await {
                Ok(_) => {
                    self.chat.bump();
                    tabs::tell("");
                    then();
                }
                Err(error) => {
                    self.reload();
                    self.fail(error);
                }
            }
        });
    }

    /// Does what does not belong to every list, once its code has come.
    pub(super) fn organize(self, act: impl FnOnce(&Organizing) + 'static) {
        let act: Box<dyn FnOnce(&Organizing)> = Box::new(act);
        leptos::task::spawn_local(async move {
            let loaded = ORGANIZING.load().await;
            // The reader may have gone to another page meanwhile.
            if self.items.try_with_untracked(Vec::is_empty).is_none() {
                return;
            }
            match loaded {
                Ok(code) => act(code),
                Err(_) => self.lacks_code(),
            }
        });
    }

    pub(super) fn entry(self, id: &str) -> Option<Entry> {
        self.items.with_untracked(|items| items.iter().find(|item| item.id == id).cloned())
    }

    /// Selects a conversation to be changed with others, or not any more.
    pub fn choose(self, id: &str) {
        self.chosen.update(|chosen| {
            let mut ids = chosen.take().unwrap_or_default();
            match ids.iter().position(|chosen| chosen == id) {
                Some(at) => drop(ids.remove(at)),
                None => ids.push(id.to_owned()),
            }
            *chosen = (!ids.is_empty()).then_some(ids);
        });
    }

    fn accept(self, fresh: ConversationList) {
        // `try_`: the reader may have gone to another page meanwhile.
        let known = self.items.try_get_untracked().unwrap_or_default();
        let places: Vec<_> = known.iter().map(|item| item.summary.with_untracked(merge::place)).collect();
        let below = merge::below(&places, &fresh);
        let before = self.next.try_get_untracked().flatten();
        let next = merge::cursor(&below, &fresh, before.clone());
        if next != before {
            self.next.try_set(next);
        }
        let mut items = reconcile(&known, fresh.items);
        items.extend(below.into_iter().map(|at| known[at].clone()));
        self.items.try_set(items);
        self.error.try_set(None);
    }

    pub(super) fn fail(self, error: ApiError) {
        self.error.try_set(Some(error));
    }
}

fn is_visible() -> bool {
    !document().hidden()
}

impl Entry {
    fn new(summary: ConversationSummary) -> Self {
        Self { id: summary.id.clone(), summary: ArcRwSignal::new(summary) }
    }
}

/// A page's entries, the known ones with their new content, so that rows keep their elements, focus included.
fn reconcile(known: &[Entry], summaries: Vec<ConversationSummary>) -> Vec<Entry> {
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
