//! The state of the list and the operations on it.

use super::merge;
use crate::api::{ApiError, change_conversations, folders, list_conversations};
use crate::chat_context::{ChatContext, use_chat_context};
use crate::chunks::ChunkError;
use crate::prelude::*;
use crate::tab_sync;
use crate::ui::dates::use_now;
use leptos::ev;
use std::time::Duration;
use wire::api::{ConversationList, ConversationSummary, WaitingTasks};
use wire::organize::{ConversationChange, Folder, FolderList, ListFilter, Share};

/// How often the list is reloaded while a conversation is being answered.
const RUNNING_RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// How often the list is reloaded while the page is visible: another device may have changed
/// something.
const RELOAD_INTERVAL: Duration = Duration::from_secs(30);

/// The loaded conversations and the state of the list; a cheap handle.
#[derive(Clone, Copy)]
pub struct ConversationListState {
    pub(super) items: RwSignal<Vec<ConversationEntry>>,
    /// The first conversation of each group of days; see [`super::days`].
    pub(super) group_starts: RwSignal<Vec<String>>,
    next_cursor: RwSignal<Option<String>>,
    /// The tasks of workflows that wait for the user.
    pub(super) tasks: RwSignal<Option<WaitingTasks>>,
    /// The last error.
    pub error: RwSignal<Option<ApiError>>,
    /// Whether the next page is being loaded.
    pub loading: RwSignal<bool>,
    /// Which conversations are listed.
    pub filter: RwSignal<ListFilter>,
    /// All folders.
    pub folders: RwSignal<Vec<Folder>>,
    /// The conversation that the menu was opened for.
    pub subject: RwSignal<Option<ConversationSummary>>,
    /// The selected conversations; `None` while nothing is selected.
    pub selected: RwSignal<Option<Vec<String>>>,
    /// Whether a menu or a selection was ever opened, or a folder moved: the menu and the dialogs are in the document
    /// from then on.
    pub needs_dialogs: Memo<bool>,
    /// The conversations of the move dialog.
    pub ids_to_move: StoredValue<Vec<String>>,
    /// The folder that is moved instead of conversations.
    pub(super) folder_to_move: RwSignal<Option<String>>,
    /// The share links of the conversation of the share dialog.
    pub shares: RwSignal<Vec<Share>>,
    /// The conversations that were just deleted.
    pub deleted_ids: RwSignal<Vec<String>>,
    /// The conversation that is being renamed.
    pub renaming: RwSignal<Option<String>>,
    /// The current time, for the relative times of the rows.
    pub now: ReadSignal<Option<i64>>,
    /// The id of the link to focus when no row is left.
    pub fallback_focus: StoredValue<String>,
    pub(super) chat: ChatContext,
    /// Counts reloads and changes: the response to an older reload is discarded.
    generation: StoredValue<u64>,
}

/// One conversation. Its summary is a signal of its own, so that a change updates only its row.
#[derive(Clone)]
pub struct ConversationEntry {
    /// The conversation's id.
    pub id: String,
    /// The data of the row.
    pub summary: ArcRwSignal<ConversationSummary>,
}

impl ConversationListState {
    /// Reports that a part of the page's code could not be loaded.
    pub(super) fn report_missing_code(self) {
        // The list may be gone by now.
        let _ = self.error.try_set(Some(ChunkError::user_error().into()));
    }

    /// Creates the list from its first page, or with the error of loading it.
    pub fn new(first: Result<ConversationList, ApiError>, fallback_focus: String) -> Self {
        let (first, error) = match first {
            Ok(first) => (first, None),
            Err(error) => (ConversationList::default(), Some(error)),
        };
        let (subject, chosen) = (RwSignal::new(None), RwSignal::new(None));
        let folder_to_move = RwSignal::new(None);
        let has_begun = move || {
            subject.with(Option::is_some) || chosen.with(Option::is_some) || folder_to_move.with(Option::is_some)
        };
        Self {
            items: RwSignal::new(first.items.into_iter().map(ConversationEntry::new).collect()),
            group_starts: RwSignal::new(Vec::new()),
            next_cursor: RwSignal::new(first.next),
            tasks: RwSignal::new(first.tasks),
            error: RwSignal::new(error),
            loading: RwSignal::new(false),
            filter: RwSignal::new(ListFilter::default()),
            folders: RwSignal::new(Vec::new()),
            subject,
            selected: chosen,
            needs_dialogs: Memo::new(move |before: Option<&bool>| before == Some(&true) || has_begun()),
            ids_to_move: StoredValue::new(Vec::new()),
            folder_to_move,
            shares: RwSignal::new(Vec::new()),
            deleted_ids: RwSignal::new(Vec::new()),
            renaming: RwSignal::new(None),
            now: use_now(),
            fallback_focus: StoredValue::new(fallback_focus),
            chat: use_chat_context(),
            generation: StoredValue::new(0),
        }
    }

    /// Returns up to `most` conversations, after the first `skipped`. Tracked.
    pub fn slice(&self, skipped: usize, most: usize) -> Vec<ConversationEntry> {
        self.items.with(|items| items.iter().skip(skipped).take(most).cloned().collect())
    }

    /// Returns the number of loaded conversations. Tracked.
    pub fn count(&self) -> usize {
        self.items.with(Vec::len)
    }

    /// Like [`ConversationListState::count`], but not tracked.
    pub fn count_untracked(&self) -> usize {
        self.items.with_untracked(Vec::len)
    }

    /// Returns whether no conversation is loaded. Tracked.
    pub fn is_empty(&self) -> bool {
        self.items.with(Vec::is_empty)
    }

    /// Returns whether the server has more. Tracked.
    pub fn has_more(&self) -> bool {
        self.next_cursor.with(Option::is_some)
    }

    /// Keeps the list up to date. Reloads it when the chat or another tab reports a change, when
    /// the user returns to the window, and periodically: more often while a conversation is being
    /// answered.
    pub fn keep_fresh(self) {
        let looks = RwSignal::new(0_u32);
        let mut last = None;
        Effect::new(move |_| {
            let count = self.chat.changed.get();
            if last.replace(count).is_some_and(|last| last != count) {
                self.reload();
            }
        });
        Effect::new(move |_| tab_sync::listen(move |_| self.reload()));
        Effect::new(move |_| {
            let focused = window_event_listener(ev::focus, move |_| {
                looks.update(|looks| *looks += 1);
                self.reload();
            });
            on_cleanup(move || focused.remove());
        });
        // The summaries are not tracked one by one, because there may be thousands: code that
        // changes `running` sets the items.
        let running = Memo::new(move |_| {
            self.items.with(|items| items.iter().any(|item| item.summary.with_untracked(|summary| summary.running)))
        });
        Effect::new(move |_| {
            let every = if running.get() { RUNNING_RELOAD_INTERVAL } else { RELOAD_INTERVAL };
            let look = move || {
                if is_visible() {
                    self.reload();
                }
            };
            if let Ok(timer) = set_interval_with_handle(look, every) {
                // Runs before the next interval is set, and at the end.
                on_cleanup(move || timer.clear());
            }
        });
        Effect::new(move |_| self.update_folders(None, None));
        self.publish_title();
        self.mark_read(looks);
    }

    /// Sets the title of the page when the selected conversation's title is loaded or changed here.
    fn publish_title(self) {
        let title = Memo::new(move |_| {
            let shown = self.chat.conversation.get()?;
            let entry = self.items.with(|items| items.iter().find(|item| item.id == shown).cloned())?;
            Some(entry.summary.with(|summary| summary.title.clone()))
        });
        Effect::new(move |_| {
            // The chat knows the title of a conversation that is not listed.
            if let Some(title) = title.get() {
                self.chat.set_title(Some(&title));
            }
        });
    }

    /// Marks the selected conversation as read while the user sees it; `looks` counts the user's
    /// returns to the window. Each state of a conversation is marked once, so that a server that
    /// refuses is not asked repeatedly.
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
                self.send_change(vec![id], read, Box::new(|| ()));
            }
        });
    }

    /// Lists the conversations of another filter.
    pub fn set_filter(self, filter: ListFilter) {
        self.selected.set(None);
        self.items.set(Vec::new());
        self.next_cursor.set(None);
        self.filter.set(filter);
        self.reload();
    }

    /// Loads the folders; before that creates, renames or deletes one, see [`folders`].
    pub fn update_folders(self, id: Option<String>, name: Option<String>) {
        leptos::task::spawn_local(async move {
            match folders(id, name).await {
                Ok(FolderList { items }) => {
                    self.folders.try_set(items);
                }
                Err(error) => self.set_error(error),
            }
        });
    }

    /// Reloads the first page. Of overlapping reloads the last one counts.
    pub fn reload(self) {
        let asked = self.next_generation();
        leptos::task::spawn_local(async move {
            let Some(filter) = self.filter.try_get_untracked() else { return };
            let answer = list_conversations(filter, None).await;
            if self.generation.try_get_value() != Some(asked) {
                return;
            }
            match answer {
                Ok(fresh) => self.merge_first_page(fresh),
                Err(error) => self.set_error(error),
            }
        });
    }

    fn next_generation(self) -> u64 {
        self.generation.try_update_value(|count| *count += 1);
        self.generation.try_get_value().unwrap_or_default()
    }

    /// Loads the next page.
    pub fn load_more(self) {
        let Some(cursor) = self.next_cursor.get_untracked() else { return };
        if self.loading.get_untracked() {
            return;
        }
        self.loading.set(true);
        let filter = self.filter.get_untracked();
        leptos::task::spawn_local(async move {
            let answer = list_conversations(filter.clone(), Some(cursor)).await;
            match answer {
                // The filter changed while the page was loading.
                Ok(_) if self.filter.try_get_untracked().as_ref() != Some(&filter) => {}
                Ok(page) => {
                    self.error.try_set(None);
                    self.next_cursor.try_set(page.next);
                    self.items.try_update(|items| merge::append_page(items, page.items));
                }
                Err(error) => self.set_error(error),
            }
            self.loading.try_set(false);
        });
    }

    /// Sends a change to the server and calls `then` if it succeeded. If it failed, reloads the
    /// list and shows the error.
    pub(super) fn send_change(self, ids: Vec<String>, change: ConversationChange, then: Box<dyn FnOnce()>) {
        self.next_generation();
        leptos::task::spawn_local(async move {
            match change_conversations(ids, change).await {
                Ok(_) => {
                    self.chat.notify_changed();
                    tab_sync::broadcast("");
                    then();
                }
                Err(error) => {
                    self.reload();
                    self.set_error(error);
                }
            }
        });
    }

    /// Returns the position of a conversation in the list. Not tracked.
    pub(super) fn position(self, id: &str) -> Option<usize> {
        self.items.with_untracked(|items| items.iter().position(|item| item.id == id))
    }

    pub(super) fn entry(self, id: &str) -> Option<ConversationEntry> {
        self.items.with_untracked(|items| items.iter().find(|item| item.id == id).cloned())
    }

    /// Selects a conversation, or deselects it.
    pub fn toggle_selected(self, id: &str) {
        self.selected.update(|chosen| {
            let mut ids = chosen.take().unwrap_or_default();
            match ids.iter().position(|chosen| chosen == id) {
                Some(at) => drop(ids.remove(at)),
                None => ids.push(id.to_owned()),
            }
            *chosen = (!ids.is_empty()).then_some(ids);
        });
    }

    fn merge_first_page(self, fresh: ConversationList) {
        // `try_`: the user may have left the page meanwhile.
        let known = self.items.try_get_untracked().unwrap_or_default();
        let places: Vec<_> = known.iter().map(|item| item.summary.with_untracked(merge::sort_key)).collect();
        let below = merge::entries_below(&places, &fresh);
        let before = self.next_cursor.try_get_untracked().flatten();
        let next = merge::merged_cursor(&below, &fresh, before.clone());
        if next != before {
            self.next_cursor.try_set(next);
        }
        let tasks = fresh.tasks;
        let mut items = reconcile(&known, fresh.items);
        items.extend(below.into_iter().map(|at| known[at].clone()));
        self.items.try_set(items);
        self.tasks.try_set(tasks);
        self.error.try_set(None);
    }

    pub(super) fn set_error(self, error: ApiError) {
        self.error.try_set(Some(error));
    }
}

fn is_visible() -> bool {
    !document().hidden()
}

impl ConversationEntry {
    pub(super) fn new(summary: ConversationSummary) -> Self {
        Self { id: summary.id.clone(), summary: ArcRwSignal::new(summary) }
    }
}

/// Returns the entries of a page. Known entries are updated and reused, so that their rows keep
/// their elements and the focus.
fn reconcile(known: &[ConversationEntry], summaries: Vec<ConversationSummary>) -> Vec<ConversationEntry> {
    let entry = |summary: ConversationSummary| match known.iter().find(|entry| entry.id == summary.id) {
        Some(entry) => {
            if entry.summary.with_untracked(|now| *now != summary) {
                entry.summary.set(summary);
            }
            entry.clone()
        }
        None => ConversationEntry::new(summary),
    };
    summaries.into_iter().map(entry).collect()
}

/// Returns the list of the component around.
pub fn use_conversations() -> ConversationListState {
    expect_context()
}
