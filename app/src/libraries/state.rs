//! A library that is shown, and how it follows what changes on the server.

use super::api::{self, Method, document_path, library_path};
use super::confirm::Question;
use crate::api::ApiError;
use crate::prelude::*;
use crate::ui::browser::{is_visible, now, sleep};
use leptos::task::spawn_local;
use std::time::Duration;
use wire::error::{ErrorCode, UserError};
use wire::library::{Document, DocumentList, DocumentState, Library, LibraryChanges};

/// How long the server waits for a change, in seconds.
const WAIT: &str = "20";
/// The pause after an error, and while the page is not visible.
const PAUSE: Duration = Duration::from_secs(3);
/// From how many documents on that were read while the page is shown the time left is estimated.
const LEAST_READ: u64 = 3;

/// A document on the page. Its row stays the same while its state changes.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) document: ArcRwSignal<Document>,
}

impl Row {
    fn new(document: Document) -> Self {
        Self { id: document.id.clone(), document: ArcRwSignal::new(document) }
    }
}

/// Documents that are being read, since when they are counted.
#[derive(Clone, Copy)]
struct Reading {
    since: f64,
    ended: u64,
}

/// The library; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct LibraryState {
    pub(super) id: StoredValue<String>,
    pub(super) library: RwSignal<Option<Library>>,
    /// None until the first ones are loaded.
    pub(super) rows: RwSignal<Option<Vec<Row>>>,
    next: RwSignal<Option<String>>,
    pub(super) filter: RwSignal<Option<DocumentState>>,
    pub(super) error: RwSignal<Option<ApiError>>,
    pub(super) asked: RwSignal<Option<Question>>,
    reading: StoredValue<Option<Reading>>,
    /// Whether the user deletes it on this page, so that no change follows.
    pub(super) is_deleting: StoredValue<bool>,
    /// About how many milliseconds the documents take that are being read.
    pub(super) left: RwSignal<Option<u64>>,
}

impl LibraryState {
    pub(super) fn new(id: String) -> Self {
        Self {
            id: StoredValue::new(id),
            library: RwSignal::new(None),
            rows: RwSignal::new(None),
            next: RwSignal::new(None),
            filter: RwSignal::new(None),
            error: RwSignal::new(None),
            asked: RwSignal::new(None),
            reading: StoredValue::new(None),
            is_deleting: StoredValue::new(false),
            left: RwSignal::new(None),
        }
    }

    /// Whether there are more documents than are shown. Tracked.
    pub(super) fn has_more(self) -> bool {
        self.next.with(Option::is_some)
    }

    /// Loads the library, and follows it as long as the page shows it.
    pub(super) fn follow(self) {
        Effect::new(move |_| spawn_local(self.watch()));
    }

    async fn watch(self) {
        let mut cursor = None::<String>;
        // The block is gone as soon as its signals are.
        while let Some(id) = self.id.try_get_value() {
            let is_deleting = self.is_deleting.try_get_value() == Some(true);
            if is_deleting || cursor.is_some() && !is_visible() {
                sleep(PAUSE).await;
                continue;
            }
            let is_first = cursor.is_none();
            let query = cursor.as_ref().map_or(String::new(), |cursor| ["?since=", cursor, "&wait=", WAIT].concat());
            match api::get::<LibraryChanges>(&library_path(&id, &["/changes", &query].concat())).await {
                Ok(changes) if changes.deleted => {
                    self.error.try_set(Some(ApiError(UserError::not_found())));
                    self.library.try_set(None);
                    return;
                }
                Ok(changes) => {
                    cursor = Some(changes.cursor.clone());
                    self.error.try_set(None);
                    self.apply(changes, is_first);
                }
                Err(error) => {
                    let is_final = error.is_final();
                    // The shown library stays while the server cannot be reached.
                    if is_final || self.library.try_with_untracked(Option::is_none) == Some(true) {
                        self.error.try_set(Some(error));
                    }
                    if is_final {
                        self.library.try_set(None);
                        return;
                    }
                    cursor = None;
                    sleep(PAUSE).await;
                }
            }
        }
    }

    fn apply(self, changes: LibraryChanges, is_first: bool) {
        let Some(before) = self.library.try_get_untracked() else { return };
        let counts = changes.library.documents;
        self.estimate(counts.open(), counts.ended());
        let count_before = before.as_ref().map_or(0, |library| library.documents.all());
        if before.as_ref() != Some(&changes.library) {
            self.library.set(Some(changes.library));
        }
        let added = self.merge(changes.documents);
        let is_deleted = count_before + added > counts.all();
        // A change that was stored late could have been missed.
        let is_stale = counts.open() == 0 && self.any_row(|document| document.state.is_open());
        if is_first || changes.reload || is_deleted || is_stale {
            self.reload();
        }
    }

    fn any_row(self, is: impl Fn(&Document) -> bool) -> bool {
        let is_one = |row: &Row| row.document.with_untracked(&is);
        self.rows.with_untracked(|rows| rows.iter().flatten().any(is_one))
    }

    /// Applies the changes; returns how many documents are new. A document whose state is not that of the filter any
    /// more stays until the list is loaded again, so that nothing jumps.
    fn merge(self, documents: Vec<Document>) -> u64 {
        let mut new = Vec::new();
        self.rows.with_untracked(|rows| {
            for document in documents {
                match rows.iter().flatten().find(|row| row.id == document.id) {
                    Some(row) if row.document.with_untracked(|known| *known != document) => {
                        row.document.set(document);
                    }
                    Some(_) => {}
                    None => new.push(document),
                }
            }
        });
        let filter = self.filter.get_untracked();
        let newest =
            self.rows.with_untracked(|rows| rows.as_ref().and_then(|rows| rows.first()).map(|row| row.id.clone()));
        // Ids begin with the time. Older ones belong to a page that is not loaded.
        new.retain(|document| newest.as_ref().is_none_or(|newest| document.id > *newest));
        let count = new.len() as u64;
        new.retain(|document| filter.is_none_or(|filter| filter == document.state));
        if self.rows.with_untracked(Option::is_some) && !new.is_empty() {
            new.sort_by(|one, other| other.id.cmp(&one.id));
            self.rows.update(|rows| {
                if let Some(rows) = rows {
                    rows.splice(0..0, new.into_iter().map(Row::new));
                }
            });
        }
        count
    }

    /// Estimates how long the documents take that are being read, from how many were read so far.
    fn estimate(self, open: u64, ended: u64) {
        let reading = match (open, self.reading.get_value()) {
            (0, _) => None,
            (_, None) => Some(Reading { since: now(), ended }),
            (_, known) => known,
        };
        self.reading.set_value(reading);
        let left = reading.and_then(|Reading { since, ended: before }| {
            let read = ended.checked_sub(before).filter(|read| *read >= LEAST_READ)?;
            Some(((now() - since) / read as f64 * open as f64) as u64)
        });
        self.left.set(left);
    }

    /// Loads as many documents as are shown again.
    pub(super) fn reload(self) {
        let wanted = self.rows.with_untracked(|rows| rows.as_ref().map_or(0, Vec::len));
        spawn_local(async move {
            let (mut all, mut after) = (Vec::new(), None);
            loop {
                let list = match self.page(after).await {
                    Some(Ok(list)) => list,
                    Some(Err(error)) => return drop(self.error.try_set(Some(error))),
                    None => return,
                };
                all.extend(list.items);
                after = list.cursor;
                if after.is_none() || all.len() >= wanted {
                    break;
                }
            }
            let Some(known) = self.rows.try_get_untracked() else { return };
            let known = known.unwrap_or_default();
            let row = |document: Document| match known.iter().find(|row| row.id == document.id) {
                Some(row) => {
                    row.document.set(document);
                    row.clone()
                }
                None => Row::new(document),
            };
            self.next.set(after);
            self.rows.set(Some(all.into_iter().map(row).collect()));
        });
    }

    /// Loads the next documents.
    pub(super) fn load_more(self) {
        let after = self.next.get_untracked();
        spawn_local(async move {
            let list = self.page(after.clone()).await;
            // A page counts once, also if it was asked for twice.
            if self.next.try_get_untracked() != Some(after) {
                return;
            }
            match list {
                Some(Ok(list)) => {
                    self.next.try_set(list.cursor);
                    self.rows.try_update(|rows| {
                        rows.get_or_insert_default().extend(list.items.into_iter().map(Row::new));
                    });
                }
                Some(Err(error)) => drop(self.error.try_set(Some(error))),
                None => {}
            }
        });
    }

    /// Shows only the documents of a state.
    pub(super) fn show(self, state: Option<DocumentState>) {
        self.filter.set(state);
        self.rows.set(None);
        self.reload();
    }

    /// Loads a page with the filter; none if the block is gone or has another filter by then.
    async fn page(self, after: Option<String>) -> Option<Result<DocumentList, ApiError>> {
        let (id, filter) = (self.id.try_get_value()?, self.filter.try_get_untracked()?);
        let mut path = library_path(&id, "/documents?order=newest");
        if let Some(state) = filter {
            path.push_str("&state=");
            path.push_str(state.name());
        }
        if let Some(after) = after {
            path.push_str("&cursor=");
            path.push_str(&after);
        }
        let list = api::get(&path).await;
        (self.filter.try_get_untracked()? == filter).then_some(list)
    }

    /// Does something with a document, such as `/retry`, and shows its new state.
    pub(super) fn act(self, id: &str, what: &str) {
        let path = document_path(id, what);
        spawn_local(async move {
            match api::send::<Document>(Method::Post, &path, &serde_json::Value::Null).await {
                Ok(document) => drop(self.merge_if_there(document)),
                // Another user has changed it first; the list shows that.
                Err(_) => self.reload(),
            }
        });
    }

    fn merge_if_there(self, document: Document) -> Option<u64> {
        self.rows.try_with_untracked(Option::is_some)?;
        Some(self.merge(vec![document]))
    }

    /// Deletes a document.
    pub(super) fn delete_document(self, id: String) {
        spawn_local(async move {
            match api::act(Method::Delete, &document_path(&id, "")).await {
                Err(error) if error.code() != ErrorCode::NotFound => drop(self.error.try_set(Some(error))),
                _ => {
                    self.error.try_set(None);
                    self.rows.try_update(|rows| rows.iter_mut().for_each(|rows| rows.retain(|row| row.id != id)));
                }
            }
        });
    }
}
