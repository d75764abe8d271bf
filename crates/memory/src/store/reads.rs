//! The table `memory_reads`: the messages of users that are to be read, and those that were read.

use ::store::StoreError;
use ::store::sql::{self, Db};

/// The most messages that are read at once.
const MAX_PENDING: i64 = 20;

/// The message with which the active run began. Messages that were imported, copied or sent along
/// as history do not count: others may have written them.
const NOTE: &str = "
    INSERT INTO memory_reads (conversation_id, message_id)
    SELECT m.conversation_id, m.id FROM messages m
    JOIN runs r ON r.conversation_id = m.conversation_id AND r.status = 'running' AND r.started_at = m.created_at
    WHERE m.conversation_id = $1 AND m.role = 'user'
    ORDER BY m.no DESC LIMIT 1
    ON CONFLICT (conversation_id, message_id) DO NOTHING";

const PENDING: &str = "
    SELECT p.message_id FROM memory_reads p
    JOIN messages m ON m.conversation_id = p.conversation_id AND m.id = p.message_id
    WHERE p.conversation_id = $1 AND p.read_at IS NULL ORDER BY m.no LIMIT $2";

const NOTED: &str = "SELECT message_id FROM memory_reads WHERE conversation_id = $1";

const MARK: &str = "
    UPDATE memory_reads SET read_at = $3 WHERE conversation_id = $1 AND message_id = $2 AND read_at IS NULL";

const FORGET: &str = "DELETE FROM memory_reads WHERE conversation_id = $1 AND read_at IS NULL";

/// Records that the message with which the active run began is to be read. Returns whether that is
/// new.
pub(crate) async fn note_message(db: &mut Db, conversation_id: &str) -> Result<bool, StoreError> {
    Ok(sql::query(NOTE).bind(conversation_id).execute(db).await?.rows_affected() > 0)
}

/// Returns the messages of a conversation that are to be read, oldest first.
pub(crate) async fn pending(db: &mut Db, conversation_id: &str) -> Result<Vec<String>, StoreError> {
    let rows = sql::query_scalar(PENDING).bind(conversation_id).bind(MAX_PENDING);
    Ok(rows.fetch_all(db).await?)
}

/// Returns the messages of a conversation that are to be read or were.
pub(crate) async fn noted(db: &mut Db, conversation_id: &str) -> Result<Vec<String>, StoreError> {
    Ok(sql::query_scalar(NOTED).bind(conversation_id).fetch_all(db).await?)
}

/// Records that messages were read. Returns false if another job has read one of them.
pub(crate) async fn mark_read(
    db: &mut Db,
    conversation_id: &str,
    messages: &[String],
    now: i64,
) -> Result<bool, StoreError> {
    let mut all = true;
    for message in messages {
        let mark = sql::query(MARK).bind(conversation_id).bind(message).bind(now);
        all &= mark.execute(&mut *db).await?.rows_affected() > 0;
    }
    Ok(all)
}

/// Leaves the messages of a conversation unread for good.
pub(crate) async fn forget_pending(db: &mut Db, conversation_id: &str) -> Result<(), StoreError> {
    sql::query(FORGET).bind(conversation_id).execute(db).await?;
    Ok(())
}
