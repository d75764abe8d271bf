//! Branches of a conversation: its tree without contents, the active branch, deleted messages, and
//! copies. Table `deleted_messages`.

use crate::history::body;
use crate::history::messages::{self, set_body};
use crate::sql::{self, Db, Row};
use crate::{AuditEntry, Store, StoreError, audit};
use wire::UiMessage;

/// A node of the message tree: a message without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageNode {
    /// Unique within the conversation.
    pub id: String,
    /// The message that it follows, which precedes it in the list; `None` for a root.
    pub parent_id: Option<String>,
    /// Whether it was deleted, alone or with a message before it.
    pub deleted: bool,
}

/// The deletion or restoration of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Deletes the message and all messages that follow it.
    Delete {
        /// The message.
        message_id: String,
        /// Unix time, milliseconds.
        now: i64,
    },
    /// Undoes a deletion.
    Restore {
        /// The message that was deleted.
        message_id: String,
    },
}

/// A change of the active branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetBranch {
    /// The newest message of the branch; empty when no message is left. Ignored with
    /// [`Deletion::Restore`], which restores the head from before the deletion.
    pub head: String,
    /// A deletion or restoration in the same transaction.
    pub deletion: Option<Deletion>,
    /// Messages whose bodies are replaced.
    pub update: Vec<UiMessage>,
    /// Audit entries of calls that end with the change.
    pub audit: Vec<AuditEntry>,
}

/// A copy of a part of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyBranch {
    /// The conversation to copy from.
    pub from: String,
    /// The id of the new conversation.
    pub to: String,
    /// Its title.
    pub title: String,
    /// The messages, oldest first; each one follows the one before it. They keep their ids.
    pub messages: Vec<UiMessage>,
    /// Unix time, milliseconds.
    pub now: i64,
}

const OUTLINE: &str = "
    SELECT m.id, m.parent_id, d.message_id IS NOT NULL AS deleted
    FROM conversations c
    JOIN messages m ON m.conversation_id = c.id
    LEFT JOIN deleted_messages d ON d.conversation_id = m.conversation_id AND d.message_id = m.id
    WHERE c.owner = $1 AND c.id = $2
    ORDER BY m.no";

const SET_HEAD: &str = "UPDATE conversations SET head = $2 WHERE id = $1";

const DELETE: &str = "
    INSERT INTO deleted_messages (conversation_id, message_id, head, deleted_at)
    SELECT id, $2, head, $3 FROM conversations WHERE id = $1";

const RESTORE: &str = "DELETE FROM deleted_messages WHERE conversation_id = $1 AND message_id = $2 RETURNING head";

const COPY_CONVERSATION: &str = "
    INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at)
    SELECT $3, owner, page_id, agent_id, $4, $5, 0, $6, $6 FROM conversations WHERE owner = $1 AND id = $2";

const DUE: &str = "SELECT conversation_id, message_id FROM deleted_messages WHERE deleted_at < $1 LIMIT $2";

/// A message and all messages that follow it. UNION, so that the query also ends on a cycle in a damaged file.
macro_rules! subtree {
    ($then:literal) => {
        concat!(
            "WITH RECURSIVE gone (id) AS (
                SELECT id FROM messages WHERE conversation_id = $1 AND id = $2
                UNION
                SELECT m.id FROM gone g JOIN messages m ON m.conversation_id = $1 AND m.parent_id = g.id
            ) ",
            $then
        )
    };
}

/// The runs' events are not deleted here: they are pruned with those of all ended runs within an
/// hour. The ledger is deleted with the runs.
const FORGET_RUNS: &str =
    subtree!("DELETE FROM runs WHERE conversation_id = $1 AND message_id IN (SELECT id FROM gone)");

const FORGET: &str = subtree!("DELETE FROM messages WHERE conversation_id = $1 AND id IN (SELECT id FROM gone)");

/// Makes invalid what was read of branches. Nothing follows the message before the purged ones any more, so its changes
/// are not counted.
const COUNT_REWRITE: &str = "UPDATE conversations SET rewrites = rewrites + 1 WHERE id = $1";

/// The number of deletions that are purged in one transaction; other writes run in between.
const FORGET_AT_ONCE: u32 = 50;

impl Store {
    /// Returns the whole tree in the order of insertion, so parents precede their children; empty
    /// when the conversation is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn outline(&self, owner: &str, conversation_id: &str) -> Result<Vec<MessageNode>, StoreError> {
        self.rows(sql::query(OUTLINE).bind(owner).bind(conversation_id), node).await
    }

    /// Makes another branch the active one. No run may be active.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a run is active; [`StoreError::NotFound`] for a conversation of
    /// another user and for a deletion that can no longer be undone.
    pub async fn set_branch(&self, owner: &str, conversation_id: &str, set: SetBranch) -> Result<(), StoreError> {
        let (owner, conversation_id) = (owner.to_owned(), conversation_id.to_owned());
        let bodies = set.update.iter().map(body::encode).collect::<Result<Vec<_>, _>>()?;
        self.write(move |db| {
            Box::pin(async move {
                messages::check_idle(db, &owner, &conversation_id).await?;
                for (message, body) in set.update.iter().zip(bodies) {
                    set_body(db, &conversation_id, &message.id, body).await?;
                }
                let head = delete_or_restore(db, &conversation_id, set.deletion).await?.unwrap_or(set.head);
                sql::query(SET_HEAD).bind(&conversation_id).bind(head).execute(&mut *db).await?;
                audit::append_audit(db, set.audit).await
            })
        })
        .await
    }

    /// Copies a part of a conversation into a new one of the same owner.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a conversation of another user, [`StoreError::Invalid`] when the new id is in use.
    pub async fn copy_branch(&self, owner: &str, copy: CopyBranch) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        let bodies = copy.messages.iter().map(body::encode).collect::<Result<Vec<_>, _>>()?;
        self.write(move |db| Box::pin(store_copy(db, owner, copy, bodies))).await
    }

    /// Purges messages that were deleted before this time (Unix time, milliseconds), with their
    /// runs. Returns the number of deletions.
    ///
    /// # Errors
    /// The database failed; deletions that were purged before the failure stay purged.
    pub async fn purge_deleted(&self, before: i64) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let count = self.write(move |db| Box::pin(forget(db, before))).await?;
            total += count;
            if count < u64::from(FORGET_AT_ONCE) {
                return Ok(total);
            }
        }
    }
}

fn node(row: &Row) -> Result<MessageNode, StoreError> {
    Ok(MessageNode { id: row.try_get("id")?, parent_id: row.try_get("parent_id")?, deleted: row.try_get("deleted")? })
}

/// Deletes or restores, and returns the head from before the deletion if it restored one.
async fn delete_or_restore(
    db: &mut Db,
    conversation_id: &str,
    deletion: Option<Deletion>,
) -> Result<Option<String>, StoreError> {
    match deletion {
        None => Ok(None),
        Some(Deletion::Delete { message_id, now }) => {
            sql::query(DELETE).bind(conversation_id).bind(message_id).bind(now).execute(db).await?;
            Ok(None)
        }
        Some(Deletion::Restore { message_id }) => {
            let head: Option<String> =
                sql::query_scalar(RESTORE).bind(conversation_id).bind(message_id).fetch_optional(db).await?;
            head.map(Some).ok_or(StoreError::NotFound)
        }
    }
}

async fn store_copy(db: &mut Db, owner: String, copy: CopyBranch, bodies: Vec<String>) -> Result<(), StoreError> {
    let head = copy.messages.last().map(|message| message.id.as_str()).unwrap_or_default();
    let begun = sql::query(COPY_CONVERSATION)
        .bind(owner)
        .bind(&copy.from)
        .bind(&copy.to)
        .bind(&copy.title)
        .bind(head)
        .bind(copy.now)
        .execute(&mut *db)
        .await?;
    if begun.rows_affected() == 0 {
        return Err(StoreError::NotFound);
    }
    let mut parent: Option<&str> = None;
    for (message, body) in copy.messages.iter().zip(bodies) {
        sql::query(messages::INSERT)
            .bind(&copy.to)
            .bind(&message.id)
            .bind(parent)
            .bind(body::role_name(message.role))
            .bind(copy.now)
            .bind(body)
            .execute(&mut *db)
            .await?;
        parent = Some(&message.id);
    }
    Ok(())
}

async fn forget(db: &mut Db, before: i64) -> Result<u64, StoreError> {
    let due = sql::query(DUE).bind(before).bind(FORGET_AT_ONCE).fetch_all(&mut *db).await?;
    for row in &due {
        let (conversation_id, message_id): (&str, &str) = (row.try_get("conversation_id")?, row.try_get("message_id")?);
        sql::query(FORGET_RUNS).bind(conversation_id).bind(message_id).execute(&mut *db).await?;
        sql::query(FORGET).bind(conversation_id).bind(message_id).execute(&mut *db).await?;
        sql::query(COUNT_REWRITE).bind(conversation_id).execute(&mut *db).await?;
    }
    Ok(due.len() as u64)
}
