//! The table of queued messages.

use ::store::sql::{self, Db, Row};
use ::store::{CapabilityTables, Migration, SqliteBaseline, Store, StoreError, Table};

/// The table. Its rows are deleted with their conversation.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "message_queue",
    migrations: &[
        Migration {
            name: "queued messages",
            sqlite: include_str!("../migrations/sqlite/0001_queued_messages.sql"),
            postgres: include_str!("../migrations/postgres/0001_queued_messages.sql"),
        },
        Migration {
            name: "files of changed messages",
            sqlite: include_str!("../migrations/sqlite/0002_changed_files.sql"),
            postgres: include_str!("../migrations/postgres/0002_changed_files.sql"),
        },
        Migration {
            name: "files of removed messages",
            sqlite: include_str!("../migrations/sqlite/0003_released_files.sql"),
            postgres: include_str!("../migrations/postgres/0003_released_files.sql"),
        },
        Migration {
            name: "attempts",
            sqlite: include_str!("../migrations/sqlite/0004_attempts.sql"),
            postgres: include_str!("../migrations/postgres/0004_attempts.sql"),
        },
    ],
    tables: &[Table { name: "queued_messages", key: "conversation_id, message_id", owner: None }],
    user_deletion: &[],
    sqlite_baseline: Some(SqliteBaseline { version: 4, statements: include_str!("../migrations/sqlite_baseline.sql") }),
};

/// The most messages that wait in a conversation.
pub(crate) const MAX_QUEUED: i64 = 20;
/// The most messages that wait for a user in all conversations.
const MAX_OF_USER: i64 = 500;

const CONVERSATION: &str = "SELECT id FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL";

const LIST: &str = "
    SELECT q.message_id, q.queued_content, q.needs_page, q.held_until, q.refusal
    FROM queued_messages q JOIN conversations c ON c.id = q.conversation_id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
    ORDER BY q.queue_place, q.message_id";

const SENT: &str = "SELECT id FROM messages WHERE conversation_id = $1 AND id = $2";

const SENDING: &str = "
    SELECT message_id FROM queued_messages WHERE conversation_id = $1 AND message_id = $2 AND sending_until > $3";

/// A change resets the attempts.
const CHANGE: &str = "
    UPDATE queued_messages
    SET queued_content = $3, composer_choices = $4, needs_page = $5, held_until = $6, refusal = NULL,
        attempts = 0, retry_at = 0, sending_until = 0
    WHERE conversation_id = $1 AND message_id = $2";

const COUNT: &str = "SELECT count(*) FROM queued_messages WHERE conversation_id = $1";

const COUNT_OF_USER: &str = "
    SELECT count(*) FROM queued_messages q CROSS JOIN conversations c WHERE c.id = q.conversation_id AND c.owner = $1";

const LAST_PLACE: &str = "SELECT coalesce(max(queue_place), 0) FROM queued_messages WHERE conversation_id = $1";

const INSERT: &str = "
    INSERT INTO queued_messages
        (conversation_id, message_id, queue_place, queued_content, composer_choices, needs_page, held_until, queued_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const DELETE: &str = "DELETE FROM queued_messages WHERE conversation_id = $1 AND message_id = $2";

/// The first message of a queue, if the answer that the conversation shows last has ended well. `CROSS JOIN` and the signs
/// before columns make SQLite begin with the few queued messages, and not with all runs that have ended.
const NEXT_DUE: &str = "
    SELECT c.owner, c.agent_id, c.head, q.conversation_id, q.message_id, q.queued_content, q.composer_choices, q.attempts,
        q.sending_until
    FROM queued_messages q CROSS JOIN conversations c CROSS JOIN runs r
    WHERE c.id = q.conversation_id AND c.deleted_at IS NULL
        AND r.conversation_id = q.conversation_id AND r.epoch = c.epoch AND r.message_id = c.head
        AND r.status = 'done' AND +r.ended_at <= $1 AND q.queued_at <= $1
        AND q.held_until <= $2 AND q.retry_at <= $2 AND q.sending_until <= $2
        AND q.needs_page = 0 AND q.refusal IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM queued_messages e
            WHERE e.conversation_id = q.conversation_id
                AND (e.queue_place < q.queue_place OR (e.queue_place = q.queue_place AND e.message_id < q.message_id)))
    ORDER BY q.queued_at, q.message_id LIMIT 1";

/// Reserves the message only if it has not changed since it was found to be due.
const CLAIM: &str = "
    UPDATE queued_messages SET sending_until = $5
    WHERE conversation_id = $1 AND message_id = $2 AND queued_content = $3 AND composer_choices = $4
        AND held_until <= $6 AND retry_at <= $6 AND sending_until <= $6 AND needs_page = 0 AND refusal IS NULL";

/// Extends the reservation only if it is still the caller's. A later one of another server has a later end.
const EXTEND: &str = "
    UPDATE queued_messages SET sending_until = $3
    WHERE conversation_id = $1 AND message_id = $2 AND sending_until = $4";

/// A message that was changed meanwhile is tried again as it is now, and one that another server has reserved is left to it.
const REFUSE: &str = "
    UPDATE queued_messages SET refusal = $6, sending_until = 0
    WHERE conversation_id = $1 AND message_id = $2 AND queued_content = $3 AND composer_choices = $4
        AND sending_until = $5";

/// See [`REFUSE`]. A change ends the reservation.
const POSTPONE: &str = "
    UPDATE queued_messages SET attempts = attempts + 1, retry_at = $3, sending_until = 0
    WHERE conversation_id = $1 AND message_id = $2 AND sending_until = $4";

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueuedMessage {
    /// The message, as JSON.
    pub(crate) content: String,
    /// Whether only an open page may send it.
    pub(crate) needs_page: bool,
    /// Unix time in milliseconds.
    pub(crate) held_until: i64,
    /// Why the server could not send it.
    pub(crate) refusal: Option<String>,
}

/// A message to add or to change.
#[derive(Clone, Debug)]
pub(crate) struct NewQueued {
    pub(crate) message_id: String,
    /// The message, as JSON.
    pub(crate) content: String,
    /// The state of the composer, as JSON.
    pub(crate) choices: String,
    /// Whether only an open page may send it.
    pub(crate) needs_page: bool,
    /// Unix times in milliseconds.
    pub(crate) held_until: i64,
    pub(crate) now: i64,
}

/// The outcome of adding or changing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PutOutcome {
    /// It waits.
    Queued,
    /// A server is sending the message, so it cannot be changed until that has ended.
    Sending,
    /// The conversation has the message already, so it does not wait.
    Sent,
    /// Too many messages wait.
    Full,
    /// The user has no such conversation.
    Gone,
}

/// The outcome of removing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoveOutcome {
    /// The message is not in the queue any more, or never was.
    Removed,
    /// A server is sending the message, so it cannot be removed until that has ended.
    Sending,
    /// The user has no such conversation.
    Gone,
}

/// A message that is due, with its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DueMessage {
    pub(crate) owner: String,
    pub(crate) agent_id: String,
    /// The id of the answer with which the conversation ends.
    pub(crate) answer_id: String,
    pub(crate) conversation_id: String,
    pub(crate) message_id: String,
    /// The message, as JSON.
    pub(crate) content: String,
    /// The state of the composer, as JSON.
    pub(crate) choices: String,
    /// How many attempts to send it have failed temporarily.
    pub(crate) attempts: i64,
    /// The end of the reservation as it was found, or as [`claim`] or [`extend`] stored it last; Unix time in milliseconds.
    /// It identifies the reservation.
    pub(crate) sending_until: i64,
}

fn queued(row: &Row) -> Result<QueuedMessage, StoreError> {
    Ok(QueuedMessage {
        content: row.try_get("queued_content")?,
        needs_page: row.try_get::<i64>("needs_page")? != 0,
        held_until: row.try_get("held_until")?,
        refusal: row.try_get("refusal")?,
    })
}

fn due(row: &Row) -> Result<DueMessage, StoreError> {
    Ok(DueMessage {
        owner: row.try_get("owner")?,
        agent_id: row.try_get("agent_id")?,
        answer_id: row.try_get("head")?,
        conversation_id: row.try_get("conversation_id")?,
        message_id: row.try_get("message_id")?,
        content: row.try_get("queued_content")?,
        choices: row.try_get("composer_choices")?,
        attempts: row.try_get("attempts")?,
        sending_until: row.try_get("sending_until")?,
    })
}

async fn has_conversation(db: &mut Db, owner: &str, conversation_id: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<String>(CONVERSATION).bind(owner).bind(conversation_id);
    Ok(find.fetch_optional(db).await?.is_some())
}

async fn is_sending(db: &mut Db, conversation_id: &str, message_id: &str, now: i64) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<String>(SENDING).bind(conversation_id).bind(message_id).bind(now);
    Ok(find.fetch_optional(db).await?.is_some())
}

/// Returns whether a user has a conversation.
///
/// # Errors
/// The database failed.
pub(crate) async fn is_own(store: &Store, owner: &str, conversation_id: &str) -> Result<bool, StoreError> {
    let (owner, id) = (owner.to_owned(), conversation_id.to_owned());
    store.read(move |db| Box::pin(async move { has_conversation(db, &owner, &id).await })).await
}

/// Returns the queue of a conversation, in order; empty if the user has no such conversation.
///
/// # Errors
/// The database failed.
pub(crate) async fn list(store: &Store, owner: &str, conversation_id: &str) -> Result<Vec<QueuedMessage>, StoreError> {
    store.rows(sql::query(LIST).bind(owner).bind(conversation_id), queued).await
}

/// Adds a message at the end of a queue, or changes the one with its id.
///
/// # Errors
/// The database failed.
pub(crate) async fn put(
    store: &Store,
    owner: &str,
    conversation_id: &str,
    new: NewQueued,
) -> Result<PutOutcome, StoreError> {
    let (owner, id) = (owner.to_owned(), conversation_id.to_owned());
    let write = store.write(move |db| Box::pin(async move { put_in(db, &owner, &id, &new).await }));
    write.await
}

async fn put_in(db: &mut Db, owner: &str, id: &str, new: &NewQueued) -> Result<PutOutcome, StoreError> {
    if !has_conversation(db, owner, id).await? {
        return Ok(PutOutcome::Gone);
    }
    let sent = sql::query_scalar::<String>(SENT).bind(id).bind(&new.message_id);
    if sent.fetch_optional(&mut *db).await?.is_some() {
        return Ok(PutOutcome::Sent);
    }
    if is_sending(db, id, &new.message_id, new.now).await? {
        return Ok(PutOutcome::Sending);
    }
    let change = sql::query(CHANGE).bind(id).bind(&new.message_id).bind(&new.content).bind(&new.choices);
    if change.bind(new.needs_page).bind(new.held_until).execute(&mut *db).await?.rows_affected() > 0 {
        return Ok(PutOutcome::Queued);
    }
    let count = sql::query_scalar::<i64>(COUNT).bind(id).fetch_one(&mut *db).await?;
    let count_of_user = sql::query_scalar::<i64>(COUNT_OF_USER).bind(owner).fetch_one(&mut *db).await?;
    if count >= MAX_QUEUED || count_of_user >= MAX_OF_USER {
        return Ok(PutOutcome::Full);
    }
    let last = sql::query_scalar::<i64>(LAST_PLACE).bind(id).fetch_one(&mut *db).await?;
    let insert = sql::query(INSERT).bind(id).bind(&new.message_id).bind(last + 1).bind(&new.content);
    let insert = insert.bind(&new.choices).bind(new.needs_page).bind(new.held_until).bind(new.now);
    insert.execute(db).await?;
    Ok(PutOutcome::Queued)
}

/// Removes a message from a queue, if the queue has it.
///
/// # Errors
/// The database failed.
pub(crate) async fn remove(
    store: &Store,
    owner: &str,
    conversation_id: &str,
    message_id: &str,
    now: i64,
) -> Result<RemoveOutcome, StoreError> {
    let (owner, id, message_id) = (owner.to_owned(), conversation_id.to_owned(), message_id.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            if !has_conversation(db, &owner, &id).await? {
                return Ok(RemoveOutcome::Gone);
            }
            if is_sending(db, &id, &message_id, now).await? {
                return Ok(RemoveOutcome::Sending);
            }
            sql::query(DELETE).bind(id).bind(message_id).execute(db).await?;
            Ok(RemoveOutcome::Removed)
        })
    });
    write.await
}

/// Returns the message that was added first among those that are due: added before `before`, after an answer that ended
/// well before it.
///
/// # Errors
/// The database failed.
pub(crate) async fn next_due(store: &Store, before: i64, now: i64) -> Result<Option<DueMessage>, StoreError> {
    store.optional_row(sql::query(NEXT_DUE).bind(before).bind(now), due).await
}

/// Stores why a message cannot be sent. It waits until the user changes, sends or removes it. Does nothing if the message was
/// changed, or the reservation is not the caller's any more.
///
/// # Errors
/// The database failed.
pub(crate) async fn refuse(store: &Store, due: DueMessage, reason: &str) -> Result<(), StoreError> {
    let refuse = sql::query(REFUSE).bind(due.conversation_id).bind(due.message_id).bind(due.content);
    write(store, refuse.bind(due.choices).bind(due.sending_until).bind(reason)).await.map(drop)
}

/// Reserves a message so that it can be sent. The reservation ends at a time (Unix time in milliseconds), or when [`refuse`],
/// [`postpone`] or [`forget`] is called. Returns false if the message was changed, held, sent or removed since it was found to
/// be due.
///
/// If a message is sent and changed at the same time, this transaction decides: the one that is stored first takes effect, and
/// the other one is refused.
///
/// # Errors
/// The database failed.
pub(crate) async fn claim(store: &Store, due: &mut DueMessage, until: i64, now: i64) -> Result<bool, StoreError> {
    let claim = sql::query(CLAIM).bind(&due.conversation_id).bind(&due.message_id).bind(&due.content);
    let is_reserved = write(store, claim.bind(&due.choices).bind(until).bind(now)).await?;
    if is_reserved {
        due.sending_until = until;
    }
    Ok(is_reserved)
}

/// Extends the reservation of a message that is still being sent, until a time (Unix time in milliseconds). Returns false if
/// it is not the caller's any more: the message is in the conversation, or the reservation ended before.
///
/// # Errors
/// The database failed.
pub(crate) async fn extend(store: &Store, due: &mut DueMessage, until: i64) -> Result<bool, StoreError> {
    let extend = sql::query(EXTEND).bind(&due.conversation_id).bind(&due.message_id);
    let is_extended = write(store, extend.bind(until).bind(due.sending_until)).await?;
    if is_extended {
        due.sending_until = until;
    }
    Ok(is_extended)
}

/// Postpones a message that could not be sent, until a time (Unix time in milliseconds). Does nothing if the reservation is
/// not the caller's any more.
///
/// # Errors
/// The database failed.
pub(crate) async fn postpone(store: &Store, due: DueMessage, until: i64) -> Result<(), StoreError> {
    let postpone = sql::query(POSTPONE).bind(due.conversation_id).bind(due.message_id);
    write(store, postpone.bind(until).bind(due.sending_until)).await.map(drop)
}

/// Deletes the row of a message that is in the conversation.
///
/// # Errors
/// The database failed.
pub(crate) async fn forget(store: &Store, due: DueMessage) -> Result<(), StoreError> {
    write(store, sql::query(DELETE).bind(due.conversation_id).bind(due.message_id)).await.map(drop)
}

/// Returns whether a row was changed.
async fn write(store: &Store, change: sql::Query) -> Result<bool, StoreError> {
    let write = store.write(move |db| Box::pin(async move { Ok(change.execute(db).await?.rows_affected() > 0) }));
    write.await
}
