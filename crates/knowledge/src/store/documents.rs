//! The table `knowledge_documents`.
//!
//! A document has the version that is found (`version_id`) and the one that will replace it
//! (`next_id`). Everything that reads a file names the latter, so it has no effect any more once the
//! document has another one.

use super::{damaged, number};
use crate::store::versions;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{AuditEntry, EventKind, NewEvent, Store, StoreError, append_audit, append_event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The state of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DocumentState {
    /// It waits to be read.
    Queued,
    /// It is being read. An earlier version is still found.
    Processing,
    /// It is found.
    Ready,
    /// It could not be read. An earlier version is still found.
    Failed,
}

impl DocumentState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }
}

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DocumentRow {
    pub(crate) id: String,
    pub(crate) library_id: String,
    pub(crate) file_name: String,
    pub(crate) media_type: String,
    pub(crate) bytes: i64,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) state: DocumentState,
    pub(crate) step: Option<String>,
    pub(crate) progress: f64,
    pub(crate) error: Option<(String, String)>,
    pub(crate) pages: i64,
    pub(crate) chunks: i64,
    pub(crate) version_id: Option<String>,
    pub(crate) next_id: Option<String>,
    pub(crate) identity: String,
    pub(crate) stamp: Option<String>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

/// A document to add, whose file is stored as a version.
#[derive(Clone, Debug)]
pub(crate) struct NewDocument {
    pub(crate) id: String,
    pub(crate) library_id: String,
    pub(crate) identity: String,
    pub(crate) file_name: String,
    pub(crate) media_type: String,
    pub(crate) bytes: u64,
    pub(crate) added_by: String,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) version_id: String,
    pub(crate) stamp: Option<String>,
    pub(crate) now: i64,
}

/// A document that can be found, as the index needs it.
#[derive(Clone, Debug)]
pub(crate) struct SearchableRow {
    pub(crate) id: String,
    pub(crate) version_id: String,
    pub(crate) file_name: String,
    pub(crate) metadata: Map<String, Value>,
}

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) pages: i64,
    pub(crate) chunks: i64,
    pub(crate) now: i64,
}

const COLUMNS: &str = "id, library_id, file_name, media_type, bytes, metadata, state, step, progress, error_code,
    error_message, pages, chunks, version_id, next_id, identity, stamp, created_at, updated_at";

const INSERT: &str = "
    INSERT INTO knowledge_documents
        (id, library_id, identity, file_name, media_type, bytes, added_by, metadata, state, next_id, stamp, created_at,
        updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $11)";

const REPLACE: &str = "
    UPDATE knowledge_documents SET identity = $2, file_name = $3, media_type = $4, bytes = $5, metadata = $6,
        state = 'queued', step = NULL, progress = 0, error_code = NULL, error_message = NULL, next_id = $7, stamp = $8,
        updated_at = $9
    WHERE id = $1";

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

const GENERATION: &str = "
    UPDATE knowledge_libraries SET generation = generation + 1, updated_at = $2 WHERE id = $1";

const FINISH: &str = "
    UPDATE knowledge_documents SET version_id = next_id, next_id = NULL, state = 'ready', step = NULL, progress = 1,
        pages = $3, chunks = $4, updated_at = $5, vectors_model = NULL,
        generation = (SELECT generation FROM knowledge_libraries WHERE id = knowledge_documents.library_id)
    WHERE id = $1 AND next_id = $2";

const SET_METADATA: &str = "
    UPDATE knowledge_documents SET metadata = $2,
        generation = (SELECT generation FROM knowledge_libraries WHERE id = knowledge_documents.library_id)
    WHERE id = $1";

const SEARCHABLE: &str = "
    SELECT id, version_id, file_name, metadata FROM knowledge_documents
    WHERE library_id = $1 AND version_id IS NOT NULL AND generation > $2";

const SEARCHABLE_COUNT: &str = "
    SELECT count(*) FROM knowledge_documents WHERE library_id = $1 AND version_id IS NOT NULL";

const OPEN_WITHOUT_JOB: &str = "
    SELECT id FROM knowledge_documents WHERE state IN ('queued', 'processing') AND updated_at < $1
        AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = $2 AND unique_key = knowledge_documents.id
            AND state IN ('waiting', 'running'))
    ORDER BY id LIMIT $3";

pub(super) fn select(rest: &str) -> Sql {
    let text: Arc<str> = format!("SELECT {COLUMNS} FROM knowledge_documents {rest}").into();
    text.into()
}

pub(super) fn read(row: &Row) -> Result<DocumentRow, StoreError> {
    let state: Value = row.try_get::<&str>("state")?.into();
    let code: Option<String> = row.try_get("error_code")?;
    Ok(DocumentRow {
        id: row.try_get("id")?,
        library_id: row.try_get("library_id")?,
        file_name: row.try_get("file_name")?,
        media_type: row.try_get("media_type")?,
        bytes: row.try_get("bytes")?,
        metadata: metadata(row)?,
        state: serde_json::from_value(state).map_err(|_| damaged())?,
        step: row.try_get("step")?,
        progress: row.try_get("progress")?,
        error: code.zip(row.try_get("error_message")?),
        pages: row.try_get("pages")?,
        chunks: row.try_get("chunks")?,
        version_id: row.try_get("version_id")?,
        next_id: row.try_get("next_id")?,
        identity: row.try_get("identity")?,
        stamp: row.try_get("stamp")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

fn metadata(row: &Row) -> Result<Map<String, Value>, StoreError> {
    serde_json::from_str(row.try_get("metadata")?).map_err(|_| damaged())
}

/// Returns a document.
pub(crate) async fn document(store: &Store, id: &str) -> Result<Option<DocumentRow>, StoreError> {
    let find = sql::query(select("WHERE id = $1")).bind(id);
    store.read(move |db| Box::pin(async move { find.fetch_optional(db).await?.as_ref().map(read).transpose() })).await
}

/// Returns the document with an identity, in a transaction.
pub(crate) async fn by_identity(
    db: &mut Db,
    library_id: &str,
    identity: &str,
) -> Result<Option<DocumentRow>, StoreError> {
    let find = sql::query(select("WHERE library_id = $1 AND identity = $2")).bind(library_id).bind(identity);
    find.fetch_optional(db).await?.as_ref().map(read).transpose()
}

/// Returns the first document with a file name, in a transaction.
pub(crate) async fn by_file_name(
    db: &mut Db,
    library_id: &str,
    file_name: &str,
) -> Result<Option<DocumentRow>, StoreError> {
    let find = sql::query(select("WHERE library_id = $1 AND file_name = $2 ORDER BY id LIMIT 1"));
    let find = find.bind(library_id).bind(file_name);
    find.fetch_optional(db).await?.as_ref().map(read).transpose()
}

/// Returns documents of a library in the order in which they were added, those after the document
/// `after`, at most `most`.
pub(crate) async fn documents(
    store: &Store,
    library_id: &str,
    state: Option<DocumentState>,
    after: &str,
    most: u32,
) -> Result<Vec<DocumentRow>, StoreError> {
    let rest = "WHERE library_id = $1 AND id > $2 AND ($3 = '' OR state = $3) ORDER BY id LIMIT $4";
    let find = sql::query(select(rest)).bind(library_id).bind(after);
    let find = find.bind(state.map_or("", DocumentState::name)).bind(most);
    store.read(move |db| Box::pin(async move { find.fetch_all(db).await?.iter().map(read).collect() })).await
}

/// Stores a document whose file is the version, or replaces the file of `known`.
pub(crate) async fn add_document(
    db: &mut Db,
    new: &NewDocument,
    known: Option<&DocumentRow>,
) -> Result<(), StoreError> {
    let metadata = Value::Object(new.metadata.clone()).to_string();
    match known {
        None => {
            let insert = sql::query(INSERT).bind(&new.id).bind(&new.library_id).bind(&new.identity);
            let insert = insert.bind(&new.file_name).bind(&new.media_type).bind(number(new.bytes)).bind(&new.added_by);
            insert.bind(metadata).bind(&new.version_id).bind(&new.stamp).bind(new.now).execute(&mut *db).await?;
        }
        Some(known) => {
            if let Some(unread) = &known.next_id {
                versions::delete_version(db, unread).await?;
            }
            let replace = sql::query(REPLACE).bind(&known.id).bind(&new.identity).bind(&new.file_name);
            let replace = replace.bind(&new.media_type).bind(number(new.bytes)).bind(metadata).bind(&new.version_id);
            replace.bind(&new.stamp).bind(new.now).execute(&mut *db).await?;
        }
    }
    let id = known.map_or(&new.id, |known| &known.id);
    versions::assign_version(db, &new.version_id, id, new.bytes).await
}

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
    finish.bind(finished.now).execute(&mut *db).await?;
    if let Some(old) = old {
        versions::delete_version(db, &old).await?;
    }
    // What somebody attaches in a conversation is nobody else's business.
    if read.try_get::<Option<&str>>("conversation_id")?.is_none() {
        let name = EventKind::DocumentReady.name().to_owned();
        append_event(db, NewEvent { name, key: version.to_owned(), at: finished.now, data, roles: None }).await?;
    }
    Ok(true)
}

/// Deletes a document, with its audit row unless its file is gone from a folder. Returns false if there is
/// none.
pub(crate) async fn delete_document(
    store: &Store,
    (id, library): (&str, &str),
    audit: Option<AuditEntry>,
    now: i64,
) -> Result<bool, StoreError> {
    let delete = sql::query("DELETE FROM knowledge_documents WHERE id = $1").bind(id);
    let changed = sql::query(GENERATION).bind(library).bind(now);
    store
        .write_bulk(move |db| {
            Box::pin(async move {
                changed.execute(&mut *db).await?;
                let is_deleted = delete.execute(&mut *db).await?.rows_affected() > 0;
                if is_deleted {
                    append_audit(db, audit.into_iter().collect()).await?;
                }
                Ok(is_deleted)
            })
        })
        .await
}

/// Returns the documents of a library that have become findable, or were replaced, after a
/// generation, and how many can be found in all.
pub(crate) async fn changed_documents(
    store: &Store,
    library: &str,
    after: i64,
) -> Result<(Vec<SearchableRow>, i64), StoreError> {
    let find = sql::query(SEARCHABLE).bind(library).bind(after);
    let rows = store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await?;
    let read = |row: &Row| -> Result<SearchableRow, StoreError> {
        Ok(SearchableRow {
            id: row.try_get("id")?,
            version_id: row.try_get("version_id")?,
            file_name: row.try_get("file_name")?,
            metadata: metadata(row)?,
        })
    };
    let count = sql::query_scalar(SEARCHABLE_COUNT).bind(library);
    let count = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await?;
    Ok((rows.iter().map(read).collect::<Result<_, _>>()?, count))
}

/// Returns documents that wait or are being read although no job does it.
pub(crate) async fn open_without_job(
    store: &Store,
    kind: &'static str,
    before: i64,
) -> Result<Vec<String>, StoreError> {
    let find = sql::query_scalar(OPEN_WITHOUT_JOB).bind(before).bind(kind).bind(1_000_i64);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await
}

/// Stores the metadata of a document, by which searches filter.
pub(crate) async fn set_metadata(
    store: &Store,
    id: &str,
    library: &str,
    metadata: Map<String, Value>,
    now: i64,
) -> Result<(), StoreError> {
    let changed = sql::query(GENERATION).bind(library).bind(now);
    let set = sql::query(SET_METADATA).bind(id).bind(Value::Object(metadata).to_string());
    store
        .write(move |db| {
            Box::pin(async move {
                changed.execute(&mut *db).await?;
                Ok(set.execute(db).await.map(drop)?)
            })
        })
        .await
}
