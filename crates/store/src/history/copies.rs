//! Imported conversations, and table `shares`: copies that anyone with the link may read.

use crate::history::{body, messages};
use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use wire::UiMessage;
use wire::organize::Share;

/// The maximum number of shared copies of one conversation.
pub const MAX_SHARES: u32 = 20;

/// A complete conversation to import.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedConversation {
    /// A new, unique id.
    pub id: String,
    /// The page on which it is continued.
    pub page_id: String,
    /// The agent that continues it.
    pub agent_id: String,
    /// The title; it counts as given by the user, so runs do not replace it.
    pub title: String,
    /// The newest message of the active branch, one of `messages`.
    pub head: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub now: i64,
    /// All messages, parents first.
    pub messages: Vec<ImportedMessage>,
}

/// A message of an imported conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedMessage {
    /// The message that it follows.
    pub parent_id: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// The message.
    pub message: UiMessage,
}

const INSERT: &str = "
    INSERT INTO conversations
        (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at, read_at, named_by_user)
    VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, $8, 1)";

const SHARE: &str = "
    INSERT INTO shares (id, conversation_id, created_at, copy)
    SELECT $3, c.id, $4, $5 FROM conversations c
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
        AND (SELECT count(*) FROM shares WHERE conversation_id = c.id) < $6";

const SHARES: &str = "
    SELECT s.id, s.created_at FROM conversations c JOIN shares s ON s.conversation_id = c.id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
    ORDER BY s.created_at DESC, s.id LIMIT $3";

const UNSHARE: &str = "
    DELETE FROM shares WHERE id = $2 AND conversation_id IN (SELECT id FROM conversations WHERE owner = $1)";

/// The only query without an owner: anyone who has the id may read.
const SHARED: &str = "
    SELECT s.copy FROM shares s JOIN conversations c ON c.id = s.conversation_id
    WHERE s.id = $1 AND c.deleted_at IS NULL";

impl Store {
    /// Stores an imported conversation.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when an id is in use or a parent is missing.
    pub async fn import_conversation(&self, owner: &str, new: ImportedConversation) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        let bodies =
            new.messages.iter().map(|new| body::encode(&new.message)).collect::<Result<Vec<String>, StoreError>>()?;
        self.write(move |db| Box::pin(insert(db, owner, new, bodies))).await
    }

    /// Stores a copy under a link. Returns false when there are [`MAX_SHARES`] already, or the
    /// conversation is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn share(
        &self,
        owner: &str,
        conversation_id: &str,
        share: Share,
        copy: String,
    ) -> Result<bool, StoreError> {
        let insert = sql::query(SHARE).bind(owner).bind(conversation_id).bind(share.id).bind(share.created_at);
        Ok(self.execute(insert.bind(copy).bind(MAX_SHARES)).await? > 0)
    }

    /// Returns the shared copies of a conversation, newest first; empty when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn shares(&self, owner: &str, conversation_id: &str) -> Result<Vec<Share>, StoreError> {
        self.rows(sql::query(SHARES).bind(owner).bind(conversation_id).bind(MAX_SHARES), share).await
    }

    /// Deletes a link with its copy. Returns false when it is unknown or belongs to another user's conversation.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unshare(&self, owner: &str, id: &str) -> Result<bool, StoreError> {
        Ok(self.execute(sql::query(UNSHARE).bind(owner).bind(id)).await? > 0)
    }

    /// Returns the shared copy with this id, for any caller.
    ///
    /// # Errors
    /// The database failed.
    pub async fn shared(&self, id: &str) -> Result<Option<String>, StoreError> {
        let id = id.to_owned();
        self.read(move |db| Box::pin(async move { Ok(sql::query_scalar(SHARED).bind(id).fetch_optional(db).await?) }))
            .await
    }
}

async fn insert(db: &mut Db, owner: String, new: ImportedConversation, bodies: Vec<String>) -> Result<(), StoreError> {
    sql::query(INSERT)
        .bind(&new.id)
        .bind(owner)
        .bind(new.page_id)
        .bind(new.agent_id)
        .bind(new.title)
        .bind(new.head)
        .bind(new.created_at)
        .bind(new.now)
        .execute(&mut *db)
        .await?;
    for (message, body) in new.messages.into_iter().zip(bodies) {
        sql::query(messages::INSERT)
            .bind(&new.id)
            .bind(message.message.id)
            .bind(message.parent_id)
            .bind(body::role_name(message.message.role))
            .bind(message.created_at)
            .bind(body)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}

fn share(row: &Row) -> Result<Share, StoreError> {
    Ok(Share { id: row.try_get("id")?, created_at: row.try_get("created_at")? })
}
