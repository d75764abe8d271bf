//! Tables `files`, `file_pieces` and `file_uses`: files that users attach to messages. Each file belongs to one user. A
//! file that no message uses is deleted after a while, a used one with the last conversation that uses it.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use bytes::Bytes;

/// The size of a piece in bytes; only a file's last piece is smaller.
pub const FILE_PIECE: usize = 256 * 1024;

/// The minimum size that a file counts for in the sum of an owner's files, in bytes: the space that it occupies.
const LEAST_SIZE: i64 = 4096;

/// An upload that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Unique.
    pub id: String,
    /// The name that its owner gave it.
    pub name: String,
    /// The bytes to reserve for it.
    pub reserved: u64,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// A completely uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Unique.
    pub id: String,
    /// The name that its owner gave it.
    pub name: String,
    /// The media type that was detected from its bytes.
    pub media_type: String,
    /// The size in bytes.
    pub size: u64,
}

/// A single statement, so that concurrent uploads cannot exceed the bound together.
const BEGIN: &str = "
    INSERT INTO files (id, owner, name, size, created_at)
    SELECT $1, $2, $3, $4, $5
    WHERE (SELECT coalesce(sum(CASE WHEN size > $6 THEN size ELSE $6 END), 0) FROM files WHERE owner = $2)
        + CASE WHEN $4 > $6 THEN $4 ELSE $6 END <= $7";

const ADD: &str = "
    INSERT INTO file_pieces (file_id, no, bytes)
    SELECT id, $3, $4 FROM files WHERE owner = $1 AND id = $2 AND media_type = ''";

const FINISH: &str =
    "UPDATE files SET media_type = $3, size = $4 WHERE owner = $1 AND id = $2 AND media_type = '' AND $3 <> ''";

const ONE: &str = "SELECT id, name, media_type, size FROM files WHERE owner = $1 AND id = $2 AND media_type <> ''";

const OF_CONVERSATION: &str = "
    SELECT f.id, f.name, f.media_type, f.size FROM files f JOIN file_uses u ON u.file_id = f.id
    WHERE f.owner = $1 AND u.conversation_id = $2 AND u.is_attached = 1 AND f.media_type <> ''
    ORDER BY f.created_at DESC, f.id LIMIT $3";

const PIECE: &str = "
    SELECT p.bytes FROM files f JOIN file_pieces p ON p.file_id = f.id
    WHERE f.owner = $1 AND f.id = $2 AND f.media_type <> '' AND p.no = $3";

const DROP: &str = "
    DELETE FROM files
    WHERE owner = $1 AND id = $2 AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = files.id)";

const PURGE: &str = "
    DELETE FROM files WHERE id IN (
        SELECT id FROM files
        WHERE created_at < $1 AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = files.id)
        ORDER BY created_at LIMIT $2)";

impl Store {
    /// Reserves space for an upload. Returns false when all of the owner's files would then have
    /// more than `bound` bytes.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_file(&self, owner: &str, file: NewFile, bound: u64) -> Result<bool, StoreError> {
        let begin = sql::query(BEGIN).bind(file.id).bind(owner.to_owned()).bind(file.name).bind(number(file.reserved));
        let begin = begin.bind(file.now).bind(LEAST_SIZE).bind(number(bound));
        Ok(self.execute(begin).await? > 0)
    }

    /// Adds piece `no` of an upload, counted from 0. Each but the last has [`FILE_PIECE`] bytes.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the owner has no such upload in progress.
    pub async fn add_piece(&self, owner: &str, id: &str, no: u32, bytes: Bytes) -> Result<(), StoreError> {
        let add = sql::query(ADD).bind(owner.to_owned()).bind(id.to_owned()).bind(no).bind(bytes);
        self.write_bulk(move |db| Box::pin(async move { one_row(add.execute(db).await?.rows_affected()) })).await
    }

    /// Completes an upload with the file's media type and its size in bytes.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the owner has no such upload in progress.
    pub async fn finish_file(&self, owner: &str, id: &str, media_type: &str, size: u64) -> Result<(), StoreError> {
        let finish = sql::query(FINISH).bind(owner.to_owned()).bind(id.to_owned()).bind(media_type.to_owned());
        let finish = finish.bind(number(size));
        self.write(move |db| Box::pin(async move { one_row(finish.execute(db).await?.rows_affected()) })).await
    }

    /// Returns a completely uploaded file; `None` when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn file(&self, owner: &str, id: &str) -> Result<Option<FileRow>, StoreError> {
        let find = sql::query(ONE).bind(owner.to_owned()).bind(id.to_owned());
        self.optional_row(find, file).await
    }

    /// Returns piece `no` of a file; `None` after the last one, and when the file is unknown or
    /// belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn file_piece(&self, owner: &str, id: &str, no: u32) -> Result<Option<Bytes>, StoreError> {
        let find = sql::query(PIECE).bind(owner.to_owned()).bind(id.to_owned()).bind(no);
        self.optional_row(find, |row| Ok(Bytes::from(row.try_get::<Vec<u8>>("bytes")?))).await
    }

    /// Returns the files that an owner has attached in a conversation, the newest first, at most `most`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn files_of_conversation(
        &self,
        owner: &str,
        conversation_id: &str,
        most: u32,
    ) -> Result<Vec<FileRow>, StoreError> {
        let find = sql::query(OF_CONVERSATION).bind(owner.to_owned()).bind(conversation_id.to_owned()).bind(most);
        self.rows(find, file).await
    }

    /// Deletes a file that no message uses, completely uploaded or not. Returns false when there is no such file.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_unused_file(&self, owner: &str, id: &str) -> Result<bool, StoreError> {
        let drop = sql::query(DROP).bind(owner.to_owned()).bind(id.to_owned());
        Ok(self.execute(drop).await? > 0)
    }

    /// Deletes files of all owners that no message uses and whose upload began before `before` (Unix time,
    /// milliseconds), at most `limit`. Returns how many. For the clean-up job only, never for a request.
    ///
    /// # Errors
    /// The database failed.
    pub async fn purge_files(&self, before: i64, limit: u32) -> Result<u64, StoreError> {
        self.write(move |db| Box::pin(purge(db, before, limit))).await
    }
}

async fn purge(db: &mut Db, before: i64, limit: u32) -> Result<u64, StoreError> {
    Ok(sql::query(PURGE).bind(before).bind(limit).execute(db).await?.rows_affected())
}

fn one_row(affected: u64) -> Result<(), StoreError> {
    if affected == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

/// Converts a size to the signed integers of the databases.
fn number(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX / 2)
}

fn file(row: &Row) -> Result<FileRow, StoreError> {
    Ok(FileRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        media_type: row.try_get("media_type")?,
        size: row.try_get::<i64>("size")?.cast_unsigned(),
    })
}
