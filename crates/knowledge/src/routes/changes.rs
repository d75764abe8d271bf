//! The changes in a library while a page shows it.

use super::documents::DocumentItem;
use super::libraries::{self, LibraryItem};
use crate::service::{Changes, Cursor, Knowledge};
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use web::{HttpError, SentQuery, valid_query};

/// The longest time that a request waits, in seconds: less than that after which proxies give up.
const MAX_WAIT: u64 = 20;

/// The query.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ChangesQuery {
    /// The cursor of the answer before. Without it, the answer comes at once, with a cursor.
    #[serde(default)]
    since: Option<String>,
    /// How many seconds to wait for a change, at most 20.
    #[serde(default)]
    wait: Option<u64>,
}

/// The changes in a library.
#[derive(Serialize, JsonSchema)]
pub(super) struct LibraryChanges {
    /// The `since` of the next request.
    cursor: String,
    /// The library as it is now.
    library: LibraryItem,
    /// The documents that were added or have changed.
    documents: Vec<DocumentItem>,
    /// Whether more documents have changed than can be listed, so that the list is to be loaded again.
    reload: bool,
    /// Whether the library was deleted while the request waited, or the caller may not read it any more.
    /// Then `library` is what it was before, and no changes follow.
    deleted: bool,
}

pub(super) async fn changes(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<ChangesQuery>,
) -> Result<Json<LibraryChanges>, HttpError> {
    let ChangesQuery { since, wait } = valid_query(query)?;
    let since = match since {
        Some(text) => Some(Cursor::read(&text).ok_or_else(|| HttpError::malformed("`since` is not a cursor."))?),
        None => None,
    };
    let viewer = Viewer::from(&caller);
    let wait = Duration::from_secs(wait.unwrap_or(0).min(MAX_WAIT));
    let Changes { library, documents, is_cut, cursor, is_deleted } =
        knowledge.changes(&viewer, &id, since, wait).await?;
    Ok(Json(LibraryChanges {
        cursor: cursor.text(),
        library: libraries::one(&knowledge, &viewer, library).await?,
        documents: documents.into_iter().map(DocumentItem::from).collect(),
        reload: is_cut,
        deleted: is_deleted,
    }))
}
