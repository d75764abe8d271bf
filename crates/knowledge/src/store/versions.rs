//! The tables `knowledge_versions` and `knowledge_pieces`: the files of documents.

use super::{graph, number};
use ::store::sql::{self, Db};
use ::store::{Store, StoreError};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;

/// The size of a piece in bytes; only the last one of a file is smaller.
pub(crate) const PIECE: usize = 256 * 1024;
/// The largest file in bytes that is stored in one transaction with its document.
pub(crate) const SMALL: usize = 64 * 1024;

const INSERT: &str = "INSERT INTO knowledge_versions (id, bytes, created_at) VALUES ($1, 0, $2)";
const ASSIGN: &str = "UPDATE knowledge_versions SET document_id = $2, bytes = $3 WHERE id = $1";
const PURGE: &str = "DELETE FROM knowledge_versions WHERE document_id IS NULL AND created_at < $1";
const ADD: &str = "INSERT INTO knowledge_pieces (version_id, no, bytes) VALUES ($1, $2, $3)";
const READ: &str = "SELECT bytes FROM knowledge_pieces WHERE version_id = $1 AND no = $2";
const IS_STORED: &str = "SELECT EXISTS (SELECT 1 FROM knowledge_versions WHERE id = $1)";
const DELETE: &str = "DELETE FROM knowledge_versions WHERE id = $1";

/// Stores a version that belongs to no document yet and has no content.
pub(crate) async fn insert_version(store: &Store, id: &str, now: i64) -> Result<(), StoreError> {
    let insert = sql::query(INSERT).bind(id).bind(now);
    store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await.map(drop)?) })).await
}

/// Stores a version that belongs to no document yet, with its content, which is one piece.
pub(crate) async fn insert_small_version(db: &mut Db, id: &str, now: i64, content: Bytes) -> Result<(), StoreError> {
    sql::query(INSERT).bind(id).bind(now).execute(&mut *db).await?;
    sql::query(ADD).bind(id).bind(0_u32).bind(content).execute(db).await?;
    Ok(())
}

/// Makes a version one of a document.
pub(crate) async fn assign_version(db: &mut Db, id: &str, document_id: &str, bytes: u64) -> Result<(), StoreError> {
    sql::query(ASSIGN).bind(id).bind(document_id).bind(number(bytes)).execute(db).await?;
    Ok(())
}

/// Deletes what was uploaded before `before` and became no document, because the server was killed.
pub(crate) async fn purge_uploads(store: &Store, before: i64) -> Result<(), StoreError> {
    let purge = sql::query(PURGE).bind(before);
    store.write(move |db| Box::pin(async move { Ok(purge.execute(db).await.map(drop)?) })).await
}

/// Adds a piece to a version, counted from 0.
pub(crate) async fn add_piece(store: &Store, version_id: &str, no: u32, bytes: Bytes) -> Result<(), StoreError> {
    let add = sql::query(ADD).bind(version_id).bind(no).bind(bytes);
    store.write_bulk(move |db| Box::pin(async move { Ok(add.execute(db).await.map(drop)?) })).await
}

/// Deletes a version with its file, text and chunks, and with the entities that no other one mentions.
pub(crate) async fn delete_version(db: &mut Db, id: &str) -> Result<(), StoreError> {
    graph::forget_version(db, id).await?;
    sql::query(DELETE).bind(id).execute(db).await?;
    Ok(())
}

/// Checks that a version is still stored. A version never changes, so everything that was read of it before is whole.
///
/// # Errors
/// [`StoreError::NotFound`] if it was deleted. The database failed.
pub(crate) async fn check_stored(store: &Store, id: &str) -> Result<(), StoreError> {
    let find = sql::query_scalar::<bool>(IS_STORED).bind(id);
    let is_stored = store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await?;
    if is_stored { Ok(()) } else { Err(StoreError::NotFound) }
}

/// Streams the file of a version to a reader. If the version is deleted meanwhile, the stream ends with an error, so that
/// the reader knows that the file is not whole.
pub(crate) fn whole_file(store: Store, version_id: String) -> BoxStream<'static, Result<Bytes, StoreError>> {
    Box::pin(async_stream::try_stream! {
        let mut pieces = pieces(store.clone(), version_id.clone());
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            yield piece;
        }
        check_stored(&store, &version_id).await?;
    })
}

/// Streams the file of a version. If the version is deleted meanwhile, the stream ends earlier.
pub(crate) fn pieces(store: Store, version_id: String) -> BoxStream<'static, Result<Bytes, StoreError>> {
    Box::pin(async_stream::try_stream! {
        for no in 0_u32.. {
            let read = sql::query_scalar::<Vec<u8>>(READ).bind(&version_id).bind(no);
            match store.read(move |db| Box::pin(async move { Ok(read.fetch_optional(db).await?) })).await? {
                Some(piece) => yield Bytes::from(piece),
                None => break,
            }
        }
    })
}
