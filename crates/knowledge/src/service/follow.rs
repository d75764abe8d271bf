//! Waits for changes in a library, for pages that show it: a request waits for the next change. So a page
//! needs no stream, the rights are checked each time, and no state is kept for a page that was closed.

use super::{Access, Knowledge, failed};
use crate::store::{self, DocumentRow, LibraryRow};
use chat::Viewer;
use std::time::Duration;
use tokio::time::Instant;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The most requests of a server that wait at the same time.
pub(super) const MAX_FOLLOWERS: usize = 200;
/// The interval at which a waiting request checks for changes.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The most documents that are told of at once. If more have changed, the list is to be loaded again.
const MAX_CHANGED: usize = 100;

/// The state of a library that a page has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// When the last document that it knows changed; Unix time in milliseconds.
    changed_at: i64,
    /// The generation of the library, which grows when a document is deleted.
    generation: i64,
}

impl Cursor {
    /// Reads a cursor that [`Cursor::text`] has written.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (changed_at, generation) = text.split_once('.')?;
        Some(Self { changed_at: changed_at.parse().ok()?, generation: generation.parse().ok()? })
    }

    /// Returns it as text.
    pub(crate) fn text(self) -> String {
        format!("{}.{}", self.changed_at, self.generation)
    }
}

/// The changes in a library.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) library: LibraryRow,
    /// The documents that have changed.
    pub(crate) documents: Vec<DocumentRow>,
    /// Whether more have changed than are listed.
    pub(crate) is_cut: bool,
    pub(crate) cursor: Cursor,
    /// Whether the library was deleted while the request waited. Then `library` is what it was before.
    pub(crate) is_deleted: bool,
}

impl Knowledge {
    /// Returns what has changed in a library after a cursor, and waits for it if nothing has. Without a
    /// cursor it returns at once.
    ///
    /// # Errors
    /// 404 as for [`Knowledge::library`]; 503 if too many requests wait. It is no error if the library is
    /// deleted, or the right to read it ends, while the request waits.
    pub(crate) async fn changes(
        &self,
        viewer: &Viewer,
        id: &str,
        since: Option<Cursor>,
        wait: Duration,
    ) -> Result<Changes, UserError> {
        let end = Instant::now() + wait;
        let Ok(_permit) = self.0.followers.try_acquire() else {
            let message = "Too many pages wait for changes. Ask for the list of documents instead.";
            return Err(UserError { retry_after: Some(10), ..UserError::new(ErrorCode::Unavailable, message) });
        };
        let mut known = None;
        loop {
            let library = match (self.library(viewer, id, Access::Read).await, known.take(), since) {
                (Ok(library), _, _) => library,
                (Err(error), Some(library), Some(cursor)) if error.code == ErrorCode::NotFound => {
                    return Ok(Changes { library, documents: Vec::new(), is_cut: false, cursor, is_deleted: true });
                }
                (Err(error), _, _) => return Err(error),
            };
            let Some(since) = since else {
                let cursor = Cursor { changed_at: now_millis(), generation: library.generation };
                return Ok(Changes { library, documents: Vec::new(), is_cut: false, cursor, is_deleted: false });
            };
            let most = MAX_CHANGED as u32 + 1;
            let found = store::documents_since(self.store(), id, since.changed_at, most).await;
            let documents = found.map_err(failed)?;
            let is_changed = !documents.is_empty() || library.generation != since.generation;
            if is_changed || Instant::now() >= end {
                return Ok(changes_since(since, library, documents));
            }
            known = Some(library);
            tokio::time::sleep_until(end.min(Instant::now() + CHECK_INTERVAL)).await;
        }
    }
}

fn changes_since(since: Cursor, library: LibraryRow, mut documents: Vec<DocumentRow>) -> Changes {
    let is_cut = documents.len() > MAX_CHANGED;
    let changed_at = match documents.last() {
        // Too many changes: the client loads the whole list again, and follows from now on.
        Some(_) if is_cut => now_millis(),
        last => last.map_or(since.changed_at, |last| last.updated_at),
    };
    if is_cut {
        documents.clear();
    }
    Changes {
        cursor: Cursor { changed_at, generation: library.generation },
        library,
        documents,
        is_cut,
        is_deleted: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_are_written() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Cursor::read(text).map(Cursor::text).as_deref(), expected, "{text:?}");
        };
        check("1795213929999.3", Some("1795213929999.3"));
        check("-1.0", Some("-1.0"));
        for invalid in ["", ".", "1", "1.", ".1", "1.2.3", "1.x", "99999999999999999999.1"] {
            check(invalid, None);
        }
    }
}
