//! The table `memory_updates`: the changes by conversations, for as long as they can be undone.

use super::users;
use ::store::sql::{self, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit};

/// The most updates in a list.
const MAX_LISTED: i64 = 20;

/// A change of the facts by a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) id: String,
    pub(crate) created_at: i64,
    /// The texts of the facts that were added and are still there.
    pub(crate) added: Vec<String>,
    /// The number of facts that they have replaced.
    pub(crate) replaced: i64,
    pub(crate) is_undone: bool,
}

/// The updates of a conversation, or of all.
const LIST: &str = "
    SELECT u.id, u.created_at, u.undone_at IS NOT NULL AS undone,
        (SELECT count(*) FROM memory_facts f WHERE f.retired_by = u.id) AS replaced
    FROM memory_updates u WHERE u.owner = $1 AND ($2 = '' OR u.conversation_id = $2)
    ORDER BY u.created_at DESC, u.id DESC LIMIT $3";

const ADDED: &str = "
    SELECT content FROM memory_facts WHERE owner = $1 AND update_id = $2 AND retired_by IS NULL ORDER BY created_at, id";

const UNDO: &str = "
    UPDATE memory_updates SET undone_at = $3 WHERE owner = $1 AND id = $2 AND undone_at IS NULL";
const REMOVE: &str = "DELETE FROM memory_facts WHERE owner = $1 AND update_id = $2";
const RESTORE: &str = "UPDATE memory_facts SET retired_by = NULL WHERE owner = $1 AND retired_by = $2";

const PRUNE_FACTS: &str = "
    DELETE FROM memory_facts WHERE retired_by IS NOT NULL
        AND retired_by NOT IN (SELECT id FROM memory_updates WHERE created_at >= $1)";
const PRUNE: &str = "DELETE FROM memory_updates WHERE created_at < $1";

/// Returns the latest updates by a conversation of a user, newest first; without a conversation, by
/// all of them.
pub(crate) async fn updates(store: &Store, owner: &str, conversation_id: &str) -> Result<Vec<Update>, StoreError> {
    let find = sql::query(LIST).bind(owner).bind(conversation_id).bind(MAX_LISTED);
    let owner = owner.to_owned();
    let read = store.read(move |db| {
        Box::pin(async move {
            let rows: Vec<Row> = find.fetch_all(&mut *db).await?;
            let mut updates = Vec::new();
            for row in &rows {
                let id: String = row.try_get("id")?;
                let added = sql::query_scalar(ADDED).bind(&owner).bind(&id).fetch_all(&mut *db).await?;
                updates.push(Update {
                    id,
                    created_at: row.try_get("created_at")?,
                    added,
                    replaced: row.try_get("replaced")?,
                    is_undone: row.try_get("undone")?,
                });
            }
            Ok(updates)
        })
    });
    read.await
}

/// Undoes an update of a user: the facts that it has added are deleted, and those that it has
/// replaced are restored. Returns false if there is none, or it was undone before.
pub(crate) async fn undo(
    store: &Store,
    owner: &str,
    id: &str,
    audit: AuditEntry,
    now: i64,
) -> Result<bool, StoreError> {
    let (owner, id) = (owner.to_owned(), id.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            let undo = sql::query(UNDO).bind(&owner).bind(&id).bind(now).execute(&mut *db).await?;
            if undo.rows_affected() == 0 {
                return Ok(false);
            }
            sql::query(REMOVE).bind(&owner).bind(&id).execute(&mut *db).await?;
            sql::query(RESTORE).bind(&owner).bind(&id).execute(&mut *db).await?;
            users::changed(db, &owner).await?;
            append_audit(db, vec![audit]).await?;
            Ok(true)
        })
    });
    write.await
}

/// Deletes updates from before this time, with the facts that they have replaced.
pub(crate) async fn prune(store: &Store, before: i64) -> Result<(), StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query(PRUNE_FACTS).bind(before).execute(&mut *db).await?;
            sql::query(PRUNE).bind(before).execute(db).await?;
            Ok(())
        })
    });
    write.await
}
