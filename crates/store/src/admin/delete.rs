//! Deletes a user and everything they own, in several transactions so that other writes run in between. usage
//! statistics (`steps`, `usage_days`, `model_days`) and the audit log are kept; they contain ids only.

use crate::history::change::conversation_to_delete;
use crate::sql;
use crate::{ConversationToDelete, Store, StoreError};

const GOING: &str = "SELECT id FROM users WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT 100";

const CONVERSATIONS: &str = "
    SELECT owner, id, agent_id, head FROM conversations
    WHERE owner = $1 AND EXISTS (SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NOT NULL) LIMIT $2";

/// Deletes what the user owns apart from conversations. Sessions and keys are deleted with the user's row.
const REST: [&str; 6] = [
    "DELETE FROM jobs WHERE owner = $1",
    "DELETE FROM files WHERE owner = $1",
    "DELETE FROM folders WHERE owner = $1",
    "DELETE FROM grants WHERE owner = $1",
    "DELETE FROM invocations WHERE owner = $1",
    "DELETE FROM users WHERE id = $1",
];

const IS_GOING: &str = "
    SELECT EXISTS (SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM conversations WHERE owner = $1)";

impl Store {
    /// Returns users who are being deleted, the earliest deletions first. For the clean-up job only.
    ///
    /// # Errors
    /// The database failed.
    pub async fn users_to_delete(&self) -> Result<Vec<String>, StoreError> {
        self.read(|db| Box::pin(async move { Ok(sql::query_scalar(GOING).fetch_all(db).await?) })).await
    }

    /// Returns conversations of a user who is being deleted, at most `limit`, to pass to
    /// [`Store::delete_conversation`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn conversations_to_delete(
        &self,
        user_id: &str,
        limit: u32,
    ) -> Result<Vec<ConversationToDelete>, StoreError> {
        let list = sql::query(CONVERSATIONS).bind(user_id.to_owned()).bind(limit);
        self.rows(list, conversation_to_delete).await
    }

    /// Deletes the remaining data and the user, when none of their conversations is left. Returns
    /// false when one is left, or the user is not being deleted.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_user(&self, id: &str) -> Result<bool, StoreError> {
        let (id, schema) = (id.to_owned(), self.schema);
        self.write(move |db| {
            Box::pin(async move {
                if !sql::query_scalar::<bool>(IS_GOING).bind(&id).fetch_one(&mut *db).await? {
                    return Ok(false);
                }
                schema.delete_user(&mut *db, &id).await?;
                for sql in REST {
                    sql::query(sql).bind(&id).execute(&mut *db).await?;
                }
                Ok(true)
            })
        })
        .await
    }
}
