//! The progress of extractions, and the documents that are still to be read.

use super::write::lock;
use crate::store::damaged;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The number of entities that a transaction deletes.
const BATCH: i64 = 500;

/// The state of an extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtractionState {
    /// It continues.
    Open,
    /// Nothing is left to do.
    Done,
    /// The model did not answer, or its answer cannot be used.
    Failed,
}

/// The extraction from a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExtractionRow {
    pub(crate) version_id: String,
    pub(crate) settings: String,
    pub(crate) state: ExtractionState,
    pub(crate) next_chunk: u32,
}

/// How far the extraction from a library is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExtractionCounts {
    /// The documents that can be found.
    pub(crate) documents: i64,
    pub(crate) done: i64,
    pub(crate) failed: i64,
    /// The number of items of the model's answers that were rejected.
    pub(crate) dropped: i64,
    pub(crate) entities: i64,
    pub(crate) relations: i64,
    /// Why one of them failed or waits.
    pub(crate) error: Option<String>,
}

/// A document from which is to be extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingExtraction {
    pub(crate) document_id: String,
    /// The owner of the library.
    pub(crate) owner: String,
}

/// A library from which something was extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LibraryWithGraph {
    pub(crate) id: String,
    /// Whether the config declares it.
    pub(crate) is_declared: bool,
    /// Whether its owner has switched the extraction on.
    pub(crate) is_switched_on: bool,
}

const ONE: &str = "
    SELECT version_id, settings, state, next_chunk FROM knowledge_extractions WHERE document_id = $1";

const COUNTS: &str = "
    SELECT count(*) AS documents,
        CAST(coalesce(sum(CASE WHEN e.state = 'done' THEN 1 ELSE 0 END), 0) AS BIGINT) AS done,
        CAST(coalesce(sum(CASE WHEN e.state = 'failed' THEN 1 ELSE 0 END), 0) AS BIGINT) AS failed,
        CAST(coalesce(sum(e.dropped), 0) AS BIGINT) AS dropped, max(e.error) AS error,
        (SELECT count(*) FROM knowledge_entities WHERE library_id = $1) AS entities,
        (SELECT count(*) FROM (SELECT DISTINCT r.from_id, r.kind, r.to_id FROM knowledge_relations r
            JOIN knowledge_entities f ON f.id = r.from_id WHERE f.library_id = $1) AS edges) AS relations
    FROM knowledge_documents d LEFT JOIN knowledge_extractions e ON e.document_id = d.id
        AND e.version_id = d.version_id AND e.settings = $2
    WHERE d.library_id = $1 AND d.version_id IS NOT NULL";

/// Those that are not extracted with these settings.
macro_rules! pending {
    ($of:expr) => {
        concat!(
            "SELECT d.id, l.owner FROM knowledge_documents d JOIN knowledge_libraries l ON l.id = d.library_id
             LEFT JOIN knowledge_extractions e ON e.document_id = d.id
             WHERE d.version_id IS NOT NULL AND (e.document_id IS NULL OR e.version_id <> d.version_id
                OR e.settings <> $1 OR e.state = 'open') AND ",
            $of,
            " ORDER BY d.id LIMIT $2"
        )
    };
}

/// Of these, documents without a job of a kind.
macro_rules! without_job {
    () => {
        "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = $3 AND j.unique_key = d.id
            AND j.state IN ('waiting', 'running'))"
    };
}

const PENDING: &str = pending!("d.library_id = $3");
const PENDING_WITHOUT_JOB: &str = pending!(concat!(without_job!(), " AND d.library_id = $4"));
const PENDING_OF_USERS: &str =
    pending!(concat!(without_job!(), " AND l.has_graph = 1 AND l.owner <> '' AND l.conversation_id IS NULL"));

const WITH_GRAPH: &str = "
    SELECT l.id, CAST(CASE WHEN l.owner = '' THEN 1 ELSE 0 END AS BIGINT) AS is_declared,
        CAST(CASE WHEN l.has_graph = 1 AND l.conversation_id IS NULL THEN 1 ELSE 0 END AS BIGINT) AS is_switched_on
    FROM knowledge_libraries l
    WHERE l.id > $1 AND (EXISTS (SELECT 1 FROM knowledge_entities e WHERE e.library_id = l.id)
        OR EXISTS (SELECT 1 FROM knowledge_documents d JOIN knowledge_extractions e ON e.document_id = d.id
            WHERE d.library_id = l.id))
    ORDER BY l.id LIMIT $2";

const CLEAR: &str = "
    DELETE FROM knowledge_entities WHERE id IN (SELECT id FROM knowledge_entities WHERE library_id = $1 LIMIT $2)";
const REDO: &str = "
    DELETE FROM knowledge_extractions
    WHERE document_id IN (SELECT id FROM knowledge_documents WHERE library_id = $1)";

/// Returns the extraction from a document.
pub(crate) async fn extraction(store: &Store, document_id: &str) -> Result<Option<ExtractionRow>, StoreError> {
    let find = sql::query(ONE).bind(document_id);
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(ExtractionRow {
            version_id: row.try_get("version_id")?,
            settings: row.try_get("settings")?,
            state: match row.try_get("state")? {
                "open" => ExtractionState::Open,
                "done" => ExtractionState::Done,
                _ => ExtractionState::Failed,
            },
            next_chunk: u32::try_from(row.try_get::<i64>("next_chunk")?).map_err(|_| damaged())?,
        })
    };
    store.optional_row(find, read).await
}

/// Returns how far the extraction from a library is with these settings.
pub(crate) async fn extraction_counts(
    store: &Store,
    library_id: &str,
    settings: &str,
) -> Result<ExtractionCounts, StoreError> {
    let count = sql::query(COUNTS).bind(library_id).bind(settings);
    let row = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await?;
    Ok(ExtractionCounts {
        documents: row.try_get("documents")?,
        done: row.try_get("done")?,
        failed: row.try_get("failed")?,
        dropped: row.try_get("dropped")?,
        entities: row.try_get("entities")?,
        relations: row.try_get("relations")?,
        error: row.try_get("error")?,
    })
}

/// Returns documents of a library that wait for their extraction.
pub(crate) async fn pending_extractions(
    store: &Store,
    library_id: &str,
    settings: &str,
    most: u32,
) -> Result<Vec<PendingExtraction>, StoreError> {
    pending(store, sql::query(PENDING).bind(settings).bind(most).bind(library_id)).await
}

/// As [`pending_extractions`], those that no job of this kind extracts.
pub(crate) async fn pending_without_job(
    store: &Store,
    library_id: &str,
    settings: &str,
    kind: &'static str,
    most: u32,
) -> Result<Vec<PendingExtraction>, StoreError> {
    pending(store, sql::query(PENDING_WITHOUT_JOB).bind(settings).bind(most).bind(kind).bind(library_id)).await
}

/// As [`pending_without_job`], of all libraries whose owners have switched it on.
pub(crate) async fn pending_of_users(
    store: &Store,
    settings: &str,
    kind: &'static str,
    most: u32,
) -> Result<Vec<PendingExtraction>, StoreError> {
    pending(store, sql::query(PENDING_OF_USERS).bind(settings).bind(most).bind(kind)).await
}

async fn pending(store: &Store, find: sql::Query) -> Result<Vec<PendingExtraction>, StoreError> {
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(PendingExtraction { document_id: row.try_get("id")?, owner: row.try_get("owner")? })
    };
    store.rows(find, read).await
}

/// Returns libraries from which something was extracted, those after an id.
pub(crate) async fn libraries_with_graph(
    store: &Store,
    after: &str,
    most: u32,
) -> Result<Vec<LibraryWithGraph>, StoreError> {
    let find = sql::query(WITH_GRAPH).bind(after).bind(most);
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(LibraryWithGraph {
            id: row.try_get("id")?,
            is_declared: row.try_get::<i64>("is_declared")? != 0,
            is_switched_on: row.try_get::<i64>("is_switched_on")? != 0,
        })
    };
    store.rows(find, read).await
}

/// Deletes what was extracted from a library.
pub(crate) async fn clear_graph(store: &Store, library_id: &str) -> Result<(), StoreError> {
    let library = library_id.to_owned();
    store.write(move |db| Box::pin(async move { redo(db, &library).await })).await?;
    loop {
        let (library, clear) = (library_id.to_owned(), sql::query(CLEAR).bind(library_id).bind(BATCH));
        let cleared = store.write_bulk(move |db| {
            Box::pin(async move {
                lock(db, &library).await?;
                Ok(clear.execute(db).await?.rows_affected())
            })
        });
        if cleared.await? < BATCH.unsigned_abs() {
            return Ok(());
        }
    }
}

/// Makes all documents of a library wait for their extraction. The earlier entities and relations of each stay until
/// its own extraction begins.
pub(crate) async fn redo(db: &mut Db, library_id: &str) -> Result<(), StoreError> {
    lock(db, library_id).await?;
    sql::query(REDO).bind(library_id).execute(db).await?;
    Ok(())
}
