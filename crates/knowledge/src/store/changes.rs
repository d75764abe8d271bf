//! Queries of pages about documents: lists with filters, changes, and cancelling the reading.

use super::documents::{read, select};
use super::{DocumentRow, DocumentState};
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};

/// The filter of a list of the documents of a library.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentFilter {
    pub(crate) state: Option<DocumentState>,
    /// The whole name of the file.
    pub(crate) file_name: Option<String>,
    /// The last document of the page before; empty for the first page.
    pub(crate) after: String,
    /// Whether the newest document comes first.
    pub(crate) newest_first: bool,
}

/// A document whose text can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextRow {
    pub(crate) id: String,
    pub(crate) library_id: String,
    pub(crate) file_name: String,
    pub(crate) media_type: String,
}

const WITH_TEXT: Sql = Sql::pair(
    "SELECT id, library_id, file_name, media_type FROM knowledge_documents
     WHERE library_id IN (SELECT value FROM json_each($1)) AND version_id IS NOT NULL
        AND (library_id, id) > ($2, $3)
     ORDER BY library_id, id LIMIT $4",
    "SELECT id, library_id, file_name, media_type FROM knowledge_documents
     WHERE library_id = ANY($1) AND version_id IS NOT NULL AND (library_id, id) > ($2, $3)
     ORDER BY library_id, id LIMIT $4",
);

const CANCEL: &str = "
    UPDATE knowledge_documents SET state = 'failed', step = NULL, error_code = 'cancelled', error_message = $2,
        updated_at = $3
    WHERE id = $1 AND next_id IS NOT NULL AND state IN ('queued', 'processing')";

/// Returns documents of a library, at most `most`.
pub(crate) async fn listed_documents(
    store: &Store,
    library_id: &str,
    filter: DocumentFilter,
    most: u32,
) -> Result<Vec<DocumentRow>, StoreError> {
    let rest = if filter.newest_first {
        "WHERE library_id = $1 AND ($2 = '' OR id < $2) AND ($3 = '' OR state = $3)
         AND ($4 = '' OR file_name = $4) ORDER BY id DESC LIMIT $5"
    } else {
        "WHERE library_id = $1 AND id > $2 AND ($3 = '' OR state = $3) AND ($4 = '' OR file_name = $4)
         ORDER BY id LIMIT $5"
    };
    let find = sql::query(select(rest)).bind(library_id).bind(filter.after);
    let find = find.bind(filter.state.map_or("", DocumentState::name)).bind(filter.file_name.unwrap_or_default());
    let find = find.bind(most);
    store.rows(find, read).await
}

/// Returns documents of a library that have changed after a time, in the order of their changes, at most
/// `most`.
pub(crate) async fn documents_since(
    store: &Store,
    library_id: &str,
    since: i64,
    most: u32,
) -> Result<Vec<DocumentRow>, StoreError> {
    let rest = "WHERE library_id = $1 AND updated_at > $2 ORDER BY updated_at, id LIMIT $3";
    let find = sql::query(select(rest)).bind(library_id).bind(since).bind(most);
    store.rows(find, read).await
}

/// Returns documents of these libraries whose text can be read, in the order of the ids of their libraries and of their
/// own: those after a library and a document, at most `most`.
pub(crate) async fn documents_with_text(
    store: &Store,
    libraries: Vec<String>,
    (library, document): (&str, &str),
    most: u32,
) -> Result<Vec<TextRow>, StoreError> {
    let find = sql::query(WITH_TEXT).bind(libraries).bind(library).bind(document).bind(most);
    let read = |row: &Row| -> Result<TextRow, StoreError> {
        Ok(TextRow {
            id: row.try_get("id")?,
            library_id: row.try_get("library_id")?,
            file_name: row.try_get("file_name")?,
            media_type: row.try_get("media_type")?,
        })
    };
    store.rows(find, read).await
}

/// Ends the reading of a document. Returns false if it is not being read.
pub(crate) async fn cancel(db: &mut Db, id: &str, message: &str, now: i64) -> Result<bool, StoreError> {
    Ok(sql::query(CANCEL).bind(id).bind(message).bind(now).execute(db).await?.rows_affected() > 0)
}
