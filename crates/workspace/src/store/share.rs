//! Links to versions of files, which anybody with the link may read.

use super::Conversation;
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, MAX_SHARES, Store, StoreError, append_audit};

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewShare {
    /// The secret in the link.
    pub(crate) id: String,
    /// The number of the version.
    pub(crate) version: i64,
    /// The path of the file.
    pub(crate) path: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
}

/// The outcome of making a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareOutcome {
    /// The link is stored.
    Stored,
    /// The conversation has [`MAX_SHARES`] links to files.
    TooMany,
    /// The user has no such version.
    Gone,
}

/// The file that a link refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedRow {
    pub(crate) path: String,
    pub(crate) shared_by: Option<String>,
    pub(crate) created_at: i64,
    pub(crate) owner: String,
    pub(crate) file_id: String,
    pub(crate) media_type: String,
    /// Bytes.
    pub(crate) size: u64,
}

const COUNT: &str = "SELECT count(*) FROM artifact_shares WHERE conversation_id = $1";

/// The file of a version of the caller.
const INSERT: &str = "
    INSERT INTO artifact_shares (id, conversation_id, version, path, file_id, shared_by, created_at)
    SELECT $4, c.id, v.version, v.path, v.file_id, $5, $6
    FROM conversations c JOIN workspace_versions v ON v.conversation_id = c.id
    WHERE c.owner = $1 AND c.id = $2 AND v.version = $3 AND c.deleted_at IS NULL";

const LIST: &str = "
    SELECT s.id, s.version, s.path, s.created_at FROM conversations c JOIN artifact_shares s ON s.conversation_id = c.id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
    ORDER BY s.created_at DESC, s.id LIMIT $3";

const FIND: &str = "
    SELECT s.conversation_id, s.file_id, s.version, s.path
    FROM conversations c JOIN artifact_shares s ON s.conversation_id = c.id
    WHERE c.owner = $1 AND s.id = $2";

const DELETE: &str = "DELETE FROM artifact_shares WHERE id = $1";

/// A trigger deletes the content when nothing uses it.
const RELEASE: &str = "
    DELETE FROM file_uses WHERE conversation_id = $1 AND file_id = $2
        AND NOT EXISTS (SELECT 1 FROM artifact_shares WHERE file_id = $2)
        AND NOT EXISTS (SELECT 1 FROM workspace_versions WHERE file_id = $2)";

/// The only query without an owner: anybody who has the id may read.
const SHARED: &str = "
    SELECT s.path, s.shared_by, s.created_at, s.file_id, c.owner, f.media_type, f.size
    FROM artifact_shares s
        JOIN conversations c ON c.id = s.conversation_id
        JOIN files f ON f.id = s.file_id AND f.owner = c.owner
    WHERE s.id = $1 AND c.deleted_at IS NULL";

/// Stores a link to a version, with a row of the audit log. `shared_by` is the name that its readers see.
pub(crate) async fn share(
    store: &Store,
    of: &Conversation,
    new: NewShare,
    shared_by: Option<String>,
    audit: AuditEntry,
) -> Result<ShareOutcome, StoreError> {
    let of = of.clone();
    store.write(move |db| Box::pin(insert(db, of, new, shared_by, audit))).await
}

async fn insert(
    db: &mut Db,
    of: Conversation,
    new: NewShare,
    shared_by: Option<String>,
    audit: AuditEntry,
) -> Result<ShareOutcome, StoreError> {
    let links = sql::query_scalar::<i64>(COUNT).bind(&of.id).fetch_one(&mut *db).await?;
    if links >= i64::from(MAX_SHARES) {
        return Ok(ShareOutcome::TooMany);
    }
    let insert = sql::query(INSERT).bind(&of.owner).bind(&of.id).bind(new.version).bind(new.id);
    let stored = insert.bind(shared_by).bind(new.created_at).execute(&mut *db).await?;
    if stored.rows_affected() == 0 {
        return Ok(ShareOutcome::Gone);
    }
    append_audit(db, vec![audit]).await?;
    Ok(ShareOutcome::Stored)
}

/// Returns the links to files of a conversation, the newest first.
pub(crate) async fn shares(store: &Store, of: &Conversation) -> Result<Vec<NewShare>, StoreError> {
    let list = sql::query(LIST).bind(of.owner.clone()).bind(of.id.clone()).bind(MAX_SHARES);
    store.rows(list, link).await
}

fn link(row: &Row) -> Result<NewShare, StoreError> {
    Ok(NewShare {
        id: row.try_get("id")?,
        version: row.try_get("version")?,
        path: row.try_get("path")?,
        created_at: row.try_get("created_at")?,
    })
}

/// Deletes a link, with a row of the audit log that `audit` makes of the conversation, the path and the version. Returns
/// false if the user has no such link.
pub(crate) async fn unshare(
    store: &Store,
    owner: &str,
    id: &str,
    audit: fn(&str, &str, &str, i64) -> AuditEntry,
) -> Result<bool, StoreError> {
    let (owner, id) = (owner.to_owned(), id.to_owned());
    let delete = store.write(move |db| {
        Box::pin(async move {
            let Some(row) = sql::query(FIND).bind(&owner).bind(&id).fetch_optional(&mut *db).await? else {
                return Ok(false);
            };
            let (conversation, file): (String, String) = (row.try_get("conversation_id")?, row.try_get("file_id")?);
            let (path, version): (String, i64) = (row.try_get("path")?, row.try_get("version")?);
            sql::query(DELETE).bind(&id).execute(&mut *db).await?;
            sql::query(RELEASE).bind(&conversation).bind(&file).execute(&mut *db).await?;
            append_audit(db, vec![audit(&owner, &conversation, &path, version)]).await?;
            Ok(true)
        })
    });
    delete.await
}

/// Returns what is behind a link, for anybody who has it.
pub(crate) async fn shared(store: &Store, id: &str) -> Result<Option<SharedRow>, StoreError> {
    let find = sql::query(SHARED).bind(id.to_owned());
    let read = |row: &Row| {
        Ok(SharedRow {
            path: row.try_get("path")?,
            shared_by: row.try_get("shared_by")?,
            created_at: row.try_get("created_at")?,
            owner: row.try_get("owner")?,
            file_id: row.try_get("file_id")?,
            media_type: row.try_get("media_type")?,
            size: row.try_get::<i64>("size")?.cast_unsigned(),
        })
    };
    store.optional_row(find, read).await
}
