//! The table `knowledge_documents`.
//!
//! A document has the version that is found (`version_id`) and the one that will replace it
//! (`next_id`).

use super::{damaged, graph, number};
use crate::store::versions;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{AuditEntry, Store, StoreError, append_audit};
use documents::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The state of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DocumentState {
    /// It waits to be read.
    Queued,
    /// It is being read. An earlier version can still be searched.
    Processing,
    /// Its text can be searched.
    Ready,
    /// It could not be read. An earlier version can still be searched.
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
    /// The parts that are missing in the searched version.
    pub(crate) warnings: Vec<Warning>,
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

const COLUMNS: &str = "id, library_id, file_name, media_type, bytes, metadata, state, step, progress, error_code,
    error_message, warnings, pages, chunks, version_id, next_id, identity, stamp, created_at, updated_at";

const INSERT: &str = "
    INSERT INTO knowledge_documents
        (id, library_id, identity, file_name, media_type, bytes, added_by, metadata, state, next_id, stamp, created_at,
        updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $11)";

const REPLACE: &str = "
    UPDATE knowledge_documents SET identity = $2, file_name = $3, media_type = $4, bytes = $5, metadata = $6,
        state = 'queued', step = NULL, progress = 0, error_code = NULL, error_message = NULL, next_id = $7, stamp = $8,
        updated_at = $9, added_by = $10
    WHERE id = $1";

/// Counts a change of what can be found.
pub(super) const GENERATION: &str = "
    UPDATE knowledge_libraries SET generation = generation + 1, updated_at = $2 WHERE id = $1";

const SET_METADATA: &str = "
    UPDATE knowledge_documents SET metadata = $2,
        generation = (SELECT generation FROM knowledge_libraries WHERE id = knowledge_documents.library_id)
    WHERE id = $1";

const SEARCHABLE: &str = "
    SELECT id, version_id, file_name, metadata FROM knowledge_documents
    WHERE library_id = $1 AND version_id IS NOT NULL AND generation > $2";

const SEARCHABLE_COUNT: &str = "
    SELECT count(*) FROM knowledge_documents WHERE library_id = $1 AND version_id IS NOT NULL";

pub(super) fn select(rest: &str) -> Sql {
    let text: Arc<str> = format!("SELECT {COLUMNS} FROM knowledge_documents {rest}").into();
    text.into()
}

pub(super) fn read(row: &Row) -> Result<DocumentRow, StoreError> {
    let state: Value = row.try_get::<&str>("state")?.into();
    let code: Option<String> = row.try_get("error_code")?;
    let warnings: Option<&str> = row.try_get("warnings")?;
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
        warnings: serde_json::from_str(warnings.unwrap_or("[]")).map_err(|_| damaged())?,
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
    store.optional_row(find, read).await
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

/// Returns the newest document with a file name, in a transaction.
pub(crate) async fn by_file_name(
    db: &mut Db,
    library_id: &str,
    file_name: &str,
) -> Result<Option<DocumentRow>, StoreError> {
    let find = sql::query(select("WHERE library_id = $1 AND file_name = $2 ORDER BY id DESC LIMIT 1"));
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
    store.rows(find, read).await
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
            replace.bind(&new.stamp).bind(new.now).bind(&new.added_by).execute(&mut *db).await?;
        }
    }
    let id = known.map_or(&new.id, |known| &known.id);
    versions::assign_version(db, &new.version_id, id, new.bytes).await
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
    let versions = sql::query_scalar::<String>("SELECT id FROM knowledge_versions WHERE document_id = $1").bind(id);
    let changed = sql::query(GENERATION).bind(library).bind(now);
    store
        .write_bulk(move |db| {
            Box::pin(async move {
                changed.execute(&mut *db).await?;
                for version in versions.fetch_all(&mut *db).await? {
                    graph::forget_version(db, &version).await?;
                }
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
