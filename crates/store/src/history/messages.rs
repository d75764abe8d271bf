//! Table `messages`: the message tree of a conversation.

use crate::history::body;
use crate::history::encoded::{BranchPosition, EncodedMessage};
use crate::run::{grants, runs};
use crate::sql::{self, Db, Row, Sql};
use crate::{AuditEntry, NewGrant, Store, StoreError, audit};
use std::sync::Arc;
use wire::{EndReason, UiMessage};

/// A message with its position in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMessage {
    /// Unique within the conversation.
    pub id: String,
    /// The message that it follows; `None` for a root.
    pub parent_id: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// The message. Parts that cannot be read are of type `unreadable`.
    pub message: UiMessage,
}

const TREE: &str = "
    SELECT m.id, m.parent_id, m.role, m.created_at, m.body
    FROM conversations c JOIN messages m ON m.conversation_id = c.id
    WHERE c.owner = $1 AND c.id = $2
    ORDER BY m.no";

const ONE: &str = "
    SELECT m.id, m.parent_id, m.role, m.created_at, m.body
    FROM conversations c JOIN messages m ON m.conversation_id = c.id
    WHERE c.owner = $1 AND c.id = $2 AND m.id = $3 AND c.deleted_at IS NULL";

/// The total size of bodies, in bytes, from which they are decoded on a blocking thread: decoding
/// takes milliseconds, which would delay other tasks of the runtime.
const LONG: usize = 1 << 20;

/// In PostgreSQL, the recursion from the head carries row numbers only; a parent is older than its
/// children, so sorting by number gives the order. UNION drops rows that were seen before, so the
/// query also ends if damaged data contain a cycle.
///
/// `$newer` ends the branch at a row: in SQLite by the number of the row `m`, in PostgreSQL by that of its child `b`, because
/// a limit of `m` could make PostgreSQL look through the newer messages of all conversations at each step.
macro_rules! branch {
    ($head:literal, $newer:literal, $newer_in_postgres:literal) => {
        Sql::pair(
            concat!(
                "SELECT m.id, m.parent_id, ",
                $head,
                ", m.role, m.created_at, m.body, m.no, c.rewrites
                 FROM conversations c CROSS JOIN messages m ON m.conversation_id = c.id ",
                $newer,
                " WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 ORDER BY m.no DESC"
            ),
            concat!(
                "WITH RECURSIVE branch (no, parent_id) AS (
                     SELECT m.no, m.parent_id
                     FROM conversations c JOIN messages m ON m.conversation_id = c.id AND m.id = ",
                $head,
                " WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
                     UNION
                     SELECT m.no, m.parent_id
                     FROM branch b JOIN messages m ON m.conversation_id = $2 AND m.id = b.parent_id ",
                $newer_in_postgres,
                ")
                 SELECT id, parent_id, role, created_at, body, no,
                     (SELECT rewrites FROM conversations WHERE id = $2) AS rewrites
                 FROM messages WHERE no IN (SELECT no FROM branch) ORDER BY no"
            ),
        )
    };
}

const BRANCH: Sql = branch!("c.head", "", "");

const BRANCH_FROM: Sql = branch!("c.head", "AND m.no >= $3", "AND b.no > $3");

const BRANCH_TO: Sql = branch!("$3", "", "");

pub(crate) const INSERT: &str = "
    INSERT INTO messages (conversation_id, id, parent_id, role, created_at, body) VALUES ($1, $2, $3, $4, $5, $6)";

/// Counts a change of a message that others follow.
macro_rules! count_rewrite {
    () => {
        "UPDATE conversations SET rewrites = rewrites + 1
         WHERE id = $1 AND EXISTS (SELECT 1 FROM messages WHERE conversation_id = $1 AND parent_id = $2)"
    };
}

/// In PostgreSQL, this also counts the change, which saves a request to the server.
const SET_BODY: Sql = Sql::pair(
    "UPDATE messages SET body = $3 WHERE conversation_id = $1 AND id = $2",
    concat!(
        "WITH counted AS (",
        count_rewrite!(),
        ") UPDATE messages SET body = $3 WHERE conversation_id = $1 AND id = $2"
    ),
);

const COUNT_REWRITE: &str = count_rewrite!();

/// Whether a run is active, by owner: no row if the conversation belongs to another user.
const ACTIVE: &str = "
    SELECT EXISTS (SELECT 1 FROM runs WHERE conversation_id = c.id AND status = 'running')
    FROM conversations c WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL";

impl Store {
    /// Returns the whole tree in the order of insertion; empty when the conversation is unknown or
    /// belongs to another user. Also of a deleted conversation as long as the deletion can be
    /// undone, because its open run must still be closed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn messages(&self, owner: &str, conversation_id: &str) -> Result<Vec<StoredMessage>, StoreError> {
        let query = sql::query(TREE).bind(owner).bind(conversation_id);
        let rows = self.read(move |db| Box::pin(async move { Ok(query.fetch_all(db).await?) })).await?;
        decode(conversation_id, rows).await
    }

    /// Returns one message of any branch; `None` when there is none with this id, or the conversation is unknown or
    /// belongs to another user. Whether the message was deleted is not checked.
    ///
    /// # Errors
    /// The database failed.
    pub async fn message(
        &self,
        owner: &str,
        conversation_id: &str,
        id: &str,
    ) -> Result<Option<StoredMessage>, StoreError> {
        let query = sql::query(ONE).bind(owner).bind(conversation_id).bind(id);
        let rows = self.read(move |db| Box::pin(async move { Ok(query.fetch_all(db).await?) })).await?;
        Ok(decode(conversation_id, rows).await?.pop())
    }

    /// Returns the active branch, oldest message first; empty when the conversation is unknown or
    /// belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn branch(&self, owner: &str, conversation_id: &str) -> Result<Vec<StoredMessage>, StoreError> {
        let query = sql::query(BRANCH).bind(owner).bind(conversation_id);
        let rows = self.read(move |db| Box::pin(async move { Ok(query.fetch_chain(db).await?) })).await?;
        decode(conversation_id, rows).await
    }

    /// Returns the active branch as [`Store::branch`] does, with messages that the caller decodes.
    ///
    /// # Errors
    /// The database failed.
    pub async fn encoded_branch(&self, owner: &str, conversation_id: &str) -> Result<Vec<EncodedMessage>, StoreError> {
        let query = sql::query(BRANCH).bind(owner).bind(conversation_id);
        let rows = self.read(move |db| Box::pin(async move { Ok(query.fetch_chain(db).await?) })).await?;
        let conversation_id = Arc::from(conversation_id);
        rows.into_iter().map(|row| EncodedMessage::new(&conversation_id, row)).collect()
    }

    /// Returns the messages of the active branch after one of its messages, oldest first. `None` if the branch does not
    /// have that message, or if a message that others follow may have changed since the position was read.
    ///
    /// # Errors
    /// The database failed.
    pub async fn encoded_branch_after(
        &self,
        owner: &str,
        conversation_id: &str,
        position: &BranchPosition,
    ) -> Result<Option<Vec<EncodedMessage>>, StoreError> {
        let query = sql::query(BRANCH_FROM).bind(owner).bind(conversation_id).bind(position.no);
        let rows = self.read(move |db| Box::pin(async move { Ok(query.fetch_chain(db).await?) })).await?;
        let conversation_id = Arc::from(conversation_id);
        let mut rows = rows.into_iter().map(|row| EncodedMessage::new(&conversation_id, row));
        let first = rows.next().transpose()?;
        if first.is_none_or(|first| first.position() != *position) {
            return Ok(None);
        }
        rows.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Returns the branch that ends with a message, as [`Store::branch`] returns the active one; also empty when the
    /// conversation has no such message.
    ///
    /// # Errors
    /// The database failed.
    pub async fn branch_to(
        &self,
        owner: &str,
        conversation_id: &str,
        message_id: &str,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        let query = sql::query(BRANCH_TO).bind(owner).bind(conversation_id).bind(message_id);
        let rows = self.read(move |db| Box::pin(async move { Ok(query.fetch_chain(db).await?) })).await?;
        decode(conversation_id, rows).await
    }

    /// Replaces a message's body while no run is active, for example to record one of several
    /// decisions; `entries` are calls that end with it.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a run is active, [`StoreError::NotFound`] for an unknown message
    /// or one of another user.
    pub async fn update_message(
        &self,
        owner: &str,
        conversation_id: &str,
        message: UiMessage,
        entries: Vec<AuditEntry>,
    ) -> Result<(), StoreError> {
        self.update_message_with_grants(owner, conversation_id, message, entries, Vec::new()).await
    }

    /// Does the same, and ends the run that waits in the message for this reason.
    ///
    /// # Errors
    /// As [`Store::update_message`].
    pub async fn end_waiting_message(
        &self,
        owner: &str,
        conversation_id: &str,
        message: UiMessage,
        entries: Vec<AuditEntry>,
        reason: EndReason,
    ) -> Result<(), StoreError> {
        let (owner, conversation_id) = (owner.to_owned(), conversation_id.to_owned());
        let body = body::encode(&message)?;
        self.write(move |db| {
            Box::pin(async move {
                update(db, &owner, conversation_id.clone(), message.id.clone(), body).await?;
                runs::end_waiting(db, &conversation_id, &message.id, reason).await?;
                audit::append_audit(db, entries).await
            })
        })
        .await
    }

    /// Does the same, and grants standing approvals with the decision.
    ///
    /// # Errors
    /// As [`Store::update_message`].
    pub async fn update_message_with_grants(
        &self,
        owner: &str,
        conversation_id: &str,
        message: UiMessage,
        entries: Vec<AuditEntry>,
        given: Vec<NewGrant>,
    ) -> Result<(), StoreError> {
        let (owner, conversation_id) = (owner.to_owned(), conversation_id.to_owned());
        let body = body::encode(&message)?;
        self.write(move |db| {
            Box::pin(async move {
                update(db, &owner, conversation_id, message.id, body).await?;
                grants::insert(db, &owner, given).await?;
                audit::append_audit(db, entries).await
            })
        })
        .await
    }
}

/// Decodes rows: never on the connection's thread, for which other callers wait, and not on the
/// runtime's if it takes long.
async fn decode(conversation_id: &str, rows: Vec<Row>) -> Result<Vec<StoredMessage>, StoreError> {
    let bytes: usize = rows.iter().map(|row| row.bytes("body").map_or(0, <[u8]>::len)).sum();
    let conversation_id = conversation_id.to_owned();
    let read = move || rows.into_iter().map(|row| stored(&conversation_id, &row)).collect();
    if bytes < LONG {
        return read();
    }
    tokio::task::spawn_blocking(read).await.unwrap_or(Err(StoreError::Closed))
}

fn stored(conversation_id: &str, row: &Row) -> Result<StoredMessage, StoreError> {
    let id: String = row.try_get("id")?;
    // As bytes: a body that is not valid UTF-8 must not fail the query.
    let body: &[u8] = row.bytes("body")?;
    let message = body::decode(conversation_id, &id, row.try_get("role")?, body);
    Ok(StoredMessage { parent_id: row.try_get("parent_id")?, created_at: row.try_get("created_at")?, id, message })
}

async fn update(db: &mut Db, owner: &str, conversation_id: String, id: String, body: String) -> Result<(), StoreError> {
    check_idle(db, owner, &conversation_id).await?;
    set_body(db, &conversation_id, &id, body).await
}

/// Fails while a run is active, and if the conversation belongs to another user.
pub(crate) async fn check_idle(db: &mut Db, owner: &str, conversation_id: &str) -> Result<(), StoreError> {
    let active: Option<bool> = sql::query_scalar(ACTIVE).bind(owner).bind(conversation_id).fetch_optional(db).await?;
    if active.ok_or(StoreError::NotFound)? { Err(StoreError::Busy) } else { Ok(()) }
}

/// Replaces the body of a message that must exist.
pub(crate) async fn set_body(db: &mut Db, conversation_id: &str, id: &str, body: String) -> Result<(), StoreError> {
    let done = sql::query(SET_BODY).bind(conversation_id).bind(id).bind(body).execute(&mut *db).await?;
    if done.rows_affected() == 0 {
        return Err(StoreError::NotFound);
    }
    if !db.is_postgres() {
        sql::query(COUNT_REWRITE).bind(conversation_id).bind(id).execute(db).await?;
    }
    Ok(())
}
