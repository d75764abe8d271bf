//! The reading of documents: which version is to be read, how far it is, and how it ends.
//!
//! Everything here names the version that is read, so it has no effect any more once the document has
//! another one.

use super::damaged;
use super::documents::{DocumentRow, DocumentState, GENERATION, document};
use crate::store::{read_pages, versions};
use ::store::sql::{self, Db};
use ::store::{EventKind, NewEvent, Store, StoreError, append_event};
use documents::Warning;
use serde_json::json;

/// A version that is to be read.
#[derive(Clone, Debug)]
pub(crate) struct OpenVersion {
    pub(crate) version_id: String,
    pub(crate) library_id: String,
    pub(crate) file_name: String,
    pub(crate) media_type: String,
}

/// How far reading is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) step: &'static str,
    pub(crate) part: f64,
    pub(crate) now: i64,
}

/// The result of reading a version.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) pages: i64,
    pub(crate) chunks: i64,
    /// The parts that are missing in the text.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) now: i64,
}

const PROGRESS: &str = "
    UPDATE knowledge_documents SET state = 'processing', step = $3, progress = $4, error_code = NULL,
        error_message = NULL, updated_at = $5
    WHERE id = $1 AND next_id = $2 AND state IN ('queued', 'processing')";

const FAIL: &str = "
    UPDATE knowledge_documents SET state = 'failed', step = NULL, error_code = $3, error_message = $4, updated_at = $5
    WHERE id = $1 AND next_id = $2 AND state IN ('queued', 'processing')";

const REQUEUE: &str = "
    UPDATE knowledge_documents SET state = 'queued', step = NULL, progress = 0, error_code = NULL,
        error_message = NULL, updated_at = $2
    WHERE id = $1 AND next_id IS NOT NULL AND state = 'failed'";

const READ_VERSION: &str = "
    SELECT version_id, library_id, file_name, media_type, added_by,
        (SELECT conversation_id FROM knowledge_libraries WHERE id = library_id) AS conversation_id
    FROM knowledge_documents WHERE id = $1 AND next_id = $2 AND state IN ('queued', 'processing')";

const FINISH: &str = "
    UPDATE knowledge_documents SET version_id = next_id, next_id = NULL, state = 'ready', step = NULL, progress = 1,
        pages = $3, chunks = $4, updated_at = $5, warnings = $6, vectors_model = NULL,
        generation = (SELECT generation FROM knowledge_libraries WHERE id = knowledge_documents.library_id)
    WHERE id = $1 AND next_id = $2";

const OPEN_WITHOUT_JOB: &str = "
    SELECT id FROM knowledge_documents WHERE state IN ('queued', 'processing') AND updated_at < $1
        AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind IN ($2, $3) AND unique_key = knowledge_documents.id
            AND state IN ('waiting', 'running'))
    ORDER BY id LIMIT $4";

const JOBS: &str = "
    SELECT count(*) FROM jobs WHERE kind = $1 AND unique_key = $2 AND state IN ('waiting', 'running')";

/// Returns the version of a document that is to be read; `None` if there is nothing to read.
pub(crate) async fn open_version(store: &Store, id: &str) -> Result<Option<OpenVersion>, StoreError> {
    let Some(document) = document(store, id).await? else { return Ok(None) };
    if document.state == DocumentState::Failed {
        return Ok(None);
    }
    let DocumentRow { next_id, library_id, file_name, media_type, .. } = document;
    Ok(next_id.map(|version_id| OpenVersion { version_id, library_id, file_name, media_type }))
}

/// Stores how far reading is. Returns false if the version is not to be read any more.
pub(crate) async fn progress(db: &mut Db, id: &str, version: &str, progress: Progress) -> Result<bool, StoreError> {
    let store = sql::query(PROGRESS).bind(id).bind(version).bind(progress.step).bind(progress.part);
    let store = store.bind(progress.now);
    Ok(store.execute(db).await?.rows_affected() > 0)
}

/// Stores why a version could not be read.
pub(crate) async fn fail(
    db: &mut Db,
    (id, version): (&str, &str),
    (code, message): (&str, &str),
    now: i64,
) -> Result<(), StoreError> {
    sql::query(FAIL).bind(id).bind(version).bind(code).bind(message).bind(now).execute(db).await?;
    Ok(())
}

/// Makes a document that has failed wait again. Returns false if it has not failed.
pub(crate) async fn requeue(db: &mut Db, id: &str, now: i64) -> Result<bool, StoreError> {
    Ok(sql::query(REQUEUE).bind(id).bind(now).execute(db).await?.rows_affected() > 0)
}

/// Makes the version that was read the one that is found, deletes the one before, and emits the event
/// `document.ready`, except for what was attached in a conversation. Returns false if the version is not to be read any more.
pub(crate) async fn finish(db: &mut Db, id: &str, version: &str, finished: Finished) -> Result<bool, StoreError> {
    let read = sql::query(READ_VERSION).bind(id).bind(version).fetch_optional(&mut *db).await?;
    let Some(read) = read else { return Ok(false) };
    let (old, library): (Option<String>, String) = (read.try_get("version_id")?, read.try_get("library_id")?);
    let data = json!({
        "documentId": id,
        "libraryId": library,
        "fileName": read.try_get::<&str>("file_name")?,
        "mediaType": read.try_get::<&str>("media_type")?,
        "userId": read.try_get::<&str>("added_by")?,
        "pages": finished.pages,
        "chunks": finished.chunks,
        "replaced": old.is_some(),
    });
    sql::query(GENERATION).bind(library).bind(finished.now).execute(&mut *db).await?;
    let finish = sql::query(FINISH).bind(id).bind(version).bind(finished.pages).bind(finished.chunks);
    let warnings = serde_json::to_string(&finished.warnings).map_err(|_| damaged())?;
    let warnings = (!finished.warnings.is_empty()).then_some(warnings);
    finish.bind(finished.now).bind(warnings).execute(&mut *db).await?;
    read_pages::clear_read_pages(db, version).await?;
    if let Some(old) = old {
        versions::delete_version(db, &old).await?;
    }
    // Files that are attached to a conversation are private to its user.
    if read.try_get::<Option<&str>>("conversation_id")?.is_none() {
        let name = EventKind::DocumentReady.name().to_owned();
        append_event(db, NewEvent { name, key: version.to_owned(), at: finished.now, data, roles: None }).await?;
    }
    Ok(true)
}

/// Returns whether a job of a kind waits or runs that reads a document.
pub(crate) async fn has_job(store: &Store, kind: &'static str, id: &str) -> Result<bool, StoreError> {
    let count = sql::query_scalar::<i64>(JOBS).bind(kind).bind(id);
    Ok(store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await? > 0)
}

/// Returns documents that wait or are being read although no job of these kinds does it.
pub(crate) async fn open_without_job(
    store: &Store,
    kinds: [&'static str; 2],
    before: i64,
) -> Result<Vec<String>, StoreError> {
    let find = sql::query_scalar(OPEN_WITHOUT_JOB).bind(before).bind(kinds[0]).bind(kinds[1]).bind(1_000_i64);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await
}
