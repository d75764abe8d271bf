//! Changes of conversations in the list, and deletions that can no longer be undone.

use crate::sql::{self, Db, Row, Sql};
use crate::{Store, StoreError};
use std::collections::BTreeSet;
use wire::organize::{ConversationChange, MoveTo};

/// A conversation to delete for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationToDelete {
    /// The user who owns it.
    pub owner: String,
    /// Its id.
    pub id: String,
    /// Its agent.
    pub agent_id: String,
    /// The newest message of its active branch.
    pub head: String,
}

/// Fields that are `None` stay unchanged. A deleted conversation changes only if it is restored; a
/// folder must belong to the owner.
macro_rules! change {
    ($ids:literal) => {
        concat!(
            "UPDATE conversations SET
        title = coalesce($3, title),
        named_by_user = CASE WHEN $3 IS NULL THEN named_by_user ELSE 1 END,
        pinned = coalesce($4, pinned),
        archived = coalesce($5, archived),
        folder_id = CASE WHEN $6 = 1 THEN $7 ELSE folder_id END,
        read_at = CASE $8 WHEN 1 THEN updated_at - 1 WHEN 0 THEN updated_at ELSE read_at END,
        deleted_at = CASE $9 WHEN 1 THEN $10 WHEN 0 THEN NULL ELSE deleted_at END
    WHERE owner = $1 AND id ",
            $ids,
            " AND (deleted_at IS NULL OR $9 = 0)
        AND ($7 IS NULL OR EXISTS (SELECT 1 FROM folders WHERE id = $7 AND owner = $1))"
        )
    };
}

const CHANGE: Sql = Sql::pair(change!("IN (SELECT value FROM json_each($2))"), change!("= ANY($2)"));

/// A title that the user gave stays.
const NAME: &str = "
    UPDATE conversations SET title = $4
    WHERE owner = $1 AND id = $2 AND title = $3 AND named_by_user = 0 AND deleted_at IS NULL";

const DUE: &str = "
    SELECT owner, id, agent_id, head FROM conversations
    WHERE deleted_at IS NOT NULL AND deleted_at <= $1 ORDER BY deleted_at LIMIT $2";

impl Store {
    /// Changes conversations, all or none, without changing their order in the list. A conversation
    /// that is deleted at `now` (Unix time, milliseconds) disappears at once, and `deleted: false`
    /// restores it until [`Store::delete_conversation`] deletes it for good.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when one of the conversations, or the folder, is unknown, deleted
    /// or belongs to another user.
    pub async fn change_conversations(
        &self,
        owner: &str,
        ids: Vec<String>,
        change: ConversationChange,
        now: i64,
    ) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        let ids: BTreeSet<String> = ids.into_iter().collect();
        self.write(move |db| Box::pin(apply(db, owner, ids, change, now))).await
    }

    /// Returns conversations of all owners that were deleted by `before` (Unix time, milliseconds),
    /// the oldest deletions first, at most `limit`. For the clean-up job only, never for a request.
    ///
    /// # Errors
    /// The database failed.
    pub async fn conversations_deleted_before(
        &self,
        before: i64,
        limit: u32,
    ) -> Result<Vec<ConversationToDelete>, StoreError> {
        self.rows(sql::query(DUE).bind(before).bind(limit), conversation_to_delete).await
    }
}

/// Sets a better title in a transaction, unless the conversation has another one than `before` by
/// now: the user or a hook may have named it meanwhile. Its order in the list stays.
///
/// # Errors
/// The database failed.
pub async fn set_generated_title(
    db: &mut Db,
    owner: &str,
    id: &str,
    before: &str,
    title: &str,
) -> Result<(), StoreError> {
    Ok(sql::query(NAME).bind(owner).bind(id).bind(before).bind(title).execute(db).await.map(drop)?)
}

pub(crate) fn conversation_to_delete(row: &Row) -> Result<ConversationToDelete, StoreError> {
    Ok(ConversationToDelete {
        owner: row.try_get("owner")?,
        id: row.try_get("id")?,
        agent_id: row.try_get("agent_id")?,
        head: row.try_get("head")?,
    })
}

async fn apply(
    db: &mut Db,
    owner: String,
    ids: BTreeSet<String>,
    change: ConversationChange,
    now: i64,
) -> Result<(), StoreError> {
    let count = ids.len() as u64;
    let moves = change.folder_id.is_some();
    let done = sql::query(CHANGE)
        .bind(owner)
        .bind(ids.into_iter().collect::<Vec<_>>())
        .bind(change.title)
        .bind(change.pinned)
        .bind(change.archived)
        .bind(moves)
        .bind(change.folder_id.and_then(|MoveTo(folder)| folder))
        .bind(change.unread)
        .bind(change.deleted)
        .bind(now)
        .execute(db)
        .await?;
    // The error also rolls back the conversations that were found.
    if done.rows_affected() == count { Ok(()) } else { Err(StoreError::NotFound) }
}
