//! The table `knowledge_vectors`, and which model has which documents.

use super::damaged;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The number of vectors that are deleted in a transaction.
const BATCH: i64 = 2_000;

/// A document that lacks vectors of a model.
#[derive(Clone, Debug)]
pub(crate) struct PendingDocument {
    pub(crate) id: String,
    pub(crate) version_id: String,
}

/// A chunk without a vector.
#[derive(Clone, Debug)]
pub(crate) struct PendingChunk {
    pub(crate) no: i64,
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// Vectors of a version to store.
#[derive(Clone, Debug)]
pub(crate) struct NewVectors {
    pub(crate) document_id: String,
    pub(crate) version_id: String,
    /// The vectors of the chunks with these numbers.
    pub(crate) vectors: Vec<(i64, Vec<f32>)>,
    /// Whether all chunks of the version have a vector.
    pub(crate) is_complete: bool,
}

/// A library that lacks vectors of a model.
#[derive(Clone, Debug)]
pub(crate) struct PendingLibrary {
    pub(crate) id: String,
    pub(crate) owner: String,
}

/// How many chunks of a library have vectors of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EmbeddingProgress {
    pub(crate) embedded: i64,
    pub(crate) chunks: i64,
}

const PENDING_LIBRARIES: &str = "
    SELECT DISTINCT l.id, l.owner FROM knowledge_libraries l JOIN knowledge_documents d ON d.library_id = l.id
    WHERE d.version_id IS NOT NULL AND (d.vectors_model IS NULL OR d.vectors_model <> $1
        OR l.embedding_model IS NULL OR l.embedding_model <> $1)
    ORDER BY l.id LIMIT $2";

const PENDING_DOCUMENTS: &str = "
    SELECT id, version_id FROM knowledge_documents
    WHERE library_id = $1 AND version_id IS NOT NULL AND (vectors_model IS NULL OR vectors_model <> $2)
    ORDER BY id LIMIT $3";

const PENDING_CHUNKS: &str = "
    SELECT no, heading, content AS text FROM knowledge_chunks WHERE version_id = $1 AND no >=
        (SELECT coalesce(max(no) + 1, 0) FROM knowledge_vectors WHERE version_id = $1 AND model = $2)
    ORDER BY no LIMIT $3";

/// A version may have been deleted since its chunks were read.
const INSERT: &str = "
    INSERT INTO knowledge_vectors (version_id, model, no, dimensions, vector)
    SELECT $1, $2, $3, $4, $5 WHERE EXISTS (SELECT 1 FROM knowledge_versions WHERE id = $1)
    ON CONFLICT (version_id, model, no) DO UPDATE SET dimensions = excluded.dimensions, vector = excluded.vector";

const COMPLETE: &str = "UPDATE knowledge_documents SET vectors_model = $3 WHERE id = $1 AND version_id = $2";

/// Only searches that use the model see a change.
const GENERATION: &str = "
    UPDATE knowledge_libraries SET generation = generation + 1 WHERE id = $1 AND embedding_model = $2";

const CHANGED: &str = "
    UPDATE knowledge_documents SET
        generation = (SELECT generation FROM knowledge_libraries WHERE id = knowledge_documents.library_id)
    WHERE id = $1 AND version_id = $2";

/// All vectors of a library are there, and of one length.
const SERVE: &str = "
    UPDATE knowledge_libraries SET embedding_model = $2, embedding_dimensions = $3, generation = generation + 1
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM knowledge_documents WHERE library_id = $1 AND version_id IS NOT NULL
            AND (vectors_model IS NULL OR vectors_model <> $2))
        AND (embedding_model IS NULL OR embedding_model <> $2)";

const DIMENSIONS: &str = "
    SELECT v.dimensions FROM knowledge_vectors v JOIN knowledge_documents d ON d.version_id = v.version_id
    WHERE d.library_id = $1 AND v.model = $2 LIMIT 1";

const DELETE_OTHERS: &str = "
    DELETE FROM knowledge_vectors WHERE (version_id, model, no) IN (
        SELECT v.version_id, v.model, v.no FROM knowledge_vectors v
        JOIN knowledge_documents d ON d.version_id = v.version_id
        WHERE d.library_id = $1 AND v.model <> $2 LIMIT $3)";

const OF_VERSION: &str = "
    SELECT no, vector FROM knowledge_vectors WHERE version_id = $1 AND model = $2 AND no >= $3 ORDER BY no LIMIT $4";

const PROGRESS: &str = "
    SELECT CAST(coalesce(sum(CASE WHEN vectors_model = $2 THEN chunks ELSE 0 END), 0) AS BIGINT) AS embedded,
        CAST(coalesce(sum(chunks), 0) AS BIGINT) AS chunks
    FROM knowledge_documents WHERE library_id = $1 AND version_id IS NOT NULL";

/// Returns libraries with documents that lack vectors of a model, or that are not searched by it yet.
pub(crate) async fn libraries_without_vectors(
    store: &Store,
    model: &str,
    most: u32,
) -> Result<Vec<PendingLibrary>, StoreError> {
    let find = sql::query(PENDING_LIBRARIES).bind(model).bind(most);
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(PendingLibrary { id: row.try_get("id")?, owner: row.try_get("owner")? })
    };
    store.rows(find, read).await
}

/// Returns documents of a library that lack vectors of a model.
pub(crate) async fn documents_without_vectors(
    store: &Store,
    library: &str,
    model: &str,
    most: u32,
) -> Result<Vec<PendingDocument>, StoreError> {
    let find = sql::query(PENDING_DOCUMENTS).bind(library).bind(model).bind(most);
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(PendingDocument { id: row.try_get("id")?, version_id: row.try_get("version_id")? })
    };
    store.rows(find, read).await
}

/// Returns the next chunks of a version that have no vector of a model. Vectors are stored in the order of
/// the chunks.
pub(crate) async fn chunks_without_vectors(
    store: &Store,
    version: &str,
    model: &str,
    most: u32,
) -> Result<Vec<PendingChunk>, StoreError> {
    let find = sql::query(PENDING_CHUNKS).bind(version).bind(model).bind(most);
    let read = |row: &Row| -> Result<_, StoreError> {
        Ok(PendingChunk { no: row.try_get("no")?, heading: row.try_get("heading")?, text: row.try_get("text")? })
    };
    store.rows(find, read).await
}

/// Stores vectors of documents of a library.
pub(crate) async fn insert_vectors(
    db: &mut Db,
    library: &str,
    model: &str,
    all: Vec<NewVectors>,
) -> Result<(), StoreError> {
    let is_searched = sql::query(GENERATION).bind(library).bind(model).execute(&mut *db).await?.rows_affected() > 0;
    for NewVectors { document_id, version_id, vectors, is_complete } in all {
        for (no, vector) in vectors {
            let insert = sql::query(INSERT).bind(&version_id).bind(model).bind(no);
            let dimensions = i64::try_from(vector.len()).unwrap_or(i64::MAX);
            insert.bind(dimensions).bind(to_bytes(&vector)).execute(&mut *db).await?;
        }
        if is_complete {
            let complete = sql::query(COMPLETE).bind(&document_id).bind(&version_id).bind(model);
            complete.execute(&mut *db).await?;
        }
        if is_searched {
            sql::query(CHANGED).bind(&document_id).bind(&version_id).execute(&mut *db).await?;
        }
    }
    Ok(())
}

/// Makes a model the one by whose vectors a library is searched, if it has all of them.
pub(crate) async fn serve_model(db: &mut Db, library: &str, model: &str) -> Result<(), StoreError> {
    let find = sql::query_scalar::<i64>(DIMENSIONS).bind(library).bind(model);
    let Some(dimensions) = find.fetch_optional(&mut *db).await? else { return Ok(()) };
    sql::query(SERVE).bind(library).bind(model).bind(dimensions).execute(db).await?;
    Ok(())
}

/// Deletes a batch of vectors of other models; returns whether there may be more.
pub(crate) async fn delete_other_vectors(db: &mut Db, library: &str, model: &str) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE_OTHERS).bind(library).bind(model).bind(BATCH);
    Ok(delete.execute(db).await?.rows_affected() >= BATCH.unsigned_abs())
}

/// Returns vectors of a version by the numbers of their chunks, from a number on, at most `most`.
pub(crate) async fn vectors_of_version(
    store: &Store,
    version: &str,
    model: &str,
    from: u32,
    most: u32,
) -> Result<Vec<(u32, Vec<f32>)>, StoreError> {
    let find = sql::query(OF_VERSION).bind(version).bind(model).bind(from).bind(most);
    let read = |row: &Row| -> Result<_, StoreError> {
        let no = u32::try_from(row.try_get::<i64>("no")?).map_err(|_| damaged())?;
        Ok((no, from_bytes(&row.try_get::<Vec<u8>>("vector")?)))
    };
    store.rows(find, read).await
}

/// Returns how many chunks of a library have vectors of a model.
pub(crate) async fn embedding_progress(
    store: &Store,
    library: &str,
    model: &str,
) -> Result<EmbeddingProgress, StoreError> {
    let find = sql::query(PROGRESS).bind(library).bind(model);
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await?;
    Ok(EmbeddingProgress { embedded: row.try_get("embedded")?, chunks: row.try_get("chunks")? })
}

fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_are_read_as_they_were_stored(vector in prop::collection::vec(any::<f32>(), 0..9)) {
            let read = from_bytes(&to_bytes(&vector));
            let bits = |vector: &[f32]| vector.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&read), bits(&vector));
        }
    }
}
