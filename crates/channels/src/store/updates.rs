//! Table `channel_updates`: what linked people have sent, and how far each update was handled.

use super::json;
use crate::messenger::Incoming;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The time for which an update is retried, in milliseconds: a day.
pub(crate) const TRIED_MS: i64 = 24 * 60 * 60 * 1_000;
/// The time for which a handled update is remembered, in milliseconds.
const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// The time for which a card and the messages of an answer are remembered, in milliseconds.
const CARDS_KEPT_MS: i64 = 30 * KEPT_MS;

/// An update to accept.
#[derive(Clone, Debug)]
pub(crate) struct NewUpdate {
    pub(crate) channel_id: String,
    pub(crate) update_id: i64,
    pub(crate) queue: String,
    pub(crate) link_id: String,
    pub(crate) owner: String,
    pub(crate) incoming: Incoming,
    /// The message that was sent already, which will show the answer.
    pub(crate) placeholder: Option<String>,
}

/// An update that is not handled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UpdateRow {
    pub(crate) update_id: i64,
    pub(crate) link_id: String,
    pub(crate) owner: String,
    pub(crate) incoming: Incoming,
    pub(crate) conversation_id: Option<String>,
    pub(crate) answer_id: Option<String>,
    /// The number of parts of the answer before this turn.
    pub(crate) parts_before: i64,
    /// Whether the turn has begun.
    pub(crate) is_submitted: bool,
    pub(crate) received_at: i64,
}

/// A queue with updates that are not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenQueue {
    pub(crate) channel_id: String,
    pub(crate) queue: String,
    pub(crate) owner: String,
}

const ADD: &str = "
    INSERT INTO channel_updates (channel_id, update_id, queue, link_id, owner, content, received_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (channel_id, update_id) DO NOTHING";

const NEXT: &str = "
    SELECT update_id, link_id, owner, content, conversation_id, answer_id, parts_before, is_submitted, received_at
    FROM channel_updates
    WHERE channel_id = $1 AND queue = $2 AND done_at IS NULL ORDER BY update_id LIMIT 1";

const BEGIN: &str = "
    UPDATE channel_updates SET conversation_id = $3, answer_id = $4, parts_before = $5
    WHERE channel_id = $1 AND update_id = $2";

const SUBMITTED: &str =
    "UPDATE channel_updates SET is_submitted = 1, answer_id = $3 WHERE channel_id = $1 AND update_id = $2";

const DONE: &str = "UPDATE channel_updates SET done_at = $3 WHERE channel_id = $1 AND update_id = $2";

const COUNT: &str = "SELECT count(*) FROM channel_updates WHERE channel_id = $1 AND done_at IS NULL";

const IS_KNOWN: &str = "SELECT EXISTS (SELECT 1 FROM channel_updates WHERE channel_id = $1 AND update_id = $2)";

const IS_BEING_HANDLED: &str = "
    SELECT EXISTS (SELECT 1 FROM channel_updates WHERE owner = $1 AND conversation_id = $2 AND done_at IS NULL)";

const COUNT_IN_QUEUE: &str =
    "SELECT count(*) FROM channel_updates WHERE channel_id = $1 AND queue = $2 AND done_at IS NULL";

const HAS_MORE: &str = "
    SELECT EXISTS (SELECT 1 FROM channel_updates WHERE channel_id = $1 AND queue = $2 AND done_at IS NULL)";

const OPEN_QUEUES: &str = "SELECT DISTINCT channel_id, queue, owner FROM channel_updates WHERE done_at IS NULL";

const GIVE_UP: &str = "
    UPDATE channel_updates SET done_at = $2 WHERE done_at IS NULL AND received_at < $1 RETURNING channel_id, update_id";

const PRUNE: [(&str, i64); 4] = [
    ("DELETE FROM channel_updates WHERE done_at < $1", KEPT_MS),
    ("DELETE FROM channel_codes WHERE expires_at < $1", 0),
    ("DELETE FROM channel_messages WHERE sent_at < $1", CARDS_KEPT_MS),
    ("DELETE FROM channel_cards WHERE created_at < $1", CARDS_KEPT_MS),
];

/// Accepts an update. Returns false if it was accepted before.
pub(crate) async fn accept(db: &mut Db, new: NewUpdate, now: i64) -> Result<bool, StoreError> {
    let content = serde_json::to_string(&new.incoming).map_err(|error| StoreError::Failed(error.to_string()))?;
    let key = (new.channel_id.clone(), new.update_id);
    let add = sql::query(ADD).bind(new.channel_id).bind(new.update_id).bind(new.queue).bind(new.link_id);
    let is_new = add.bind(new.owner.clone()).bind(content).bind(now).execute(&mut *db).await?.rows_affected() > 0;
    if let Some(message_id) = new.placeholder.filter(|_| is_new) {
        super::set_message(db, (key.0, key.1, 0), new.owner, message_id, now).await?;
    }
    Ok(is_new)
}

/// Returns the oldest update of a queue that is not handled.
pub(crate) async fn next_update(store: &Store, channel_id: &str, queue: &str) -> Result<Option<UpdateRow>, StoreError> {
    let find = sql::query(NEXT).bind(channel_id.to_owned()).bind(queue.to_owned());
    store.optional_row(find, read).await
}

fn read(row: &Row) -> Result<UpdateRow, StoreError> {
    Ok(UpdateRow {
        update_id: row.try_get("update_id")?,
        link_id: row.try_get("link_id")?,
        owner: row.try_get("owner")?,
        incoming: json(&row.try_get::<String>("content")?)?,
        conversation_id: row.try_get("conversation_id")?,
        answer_id: row.try_get("answer_id")?,
        parts_before: row.try_get("parts_before")?,
        is_submitted: row.try_get::<i64>("is_submitted")? != 0,
        received_at: row.try_get("received_at")?,
    })
}

/// Records the conversation that the turn of an update will continue, before it begins.
pub(crate) async fn begin(
    db: &mut Db,
    (channel_id, update_id): (String, i64),
    conversation_id: String,
    answer_id: Option<String>,
    parts_before: i64,
) -> Result<(), StoreError> {
    let begin = sql::query(BEGIN).bind(channel_id).bind(update_id).bind(conversation_id).bind(answer_id);
    Ok(begin.bind(parts_before).execute(db).await.map(drop)?)
}

/// Records that the turn of an update has begun, with the message that it writes.
pub(crate) async fn submitted(
    db: &mut Db,
    channel_id: String,
    update_id: i64,
    answer_id: String,
) -> Result<(), StoreError> {
    let submitted = sql::query(SUBMITTED).bind(channel_id).bind(update_id).bind(answer_id);
    Ok(submitted.execute(db).await.map(drop)?)
}

/// Records that an update was handled. Returns whether its queue has more.
pub(crate) async fn finish(
    db: &mut Db,
    (channel_id, queue): (String, String),
    update_id: i64,
    now: i64,
) -> Result<bool, StoreError> {
    sql::query(DONE).bind(channel_id.clone()).bind(update_id).bind(now).execute(&mut *db).await?;
    Ok(sql::query_scalar::<bool>(HAS_MORE).bind(channel_id).bind(queue).fetch_one(db).await?)
}

/// Returns whether an update was accepted before.
pub(crate) async fn is_known(store: &Store, channel_id: &str, update_id: i64) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<bool>(IS_KNOWN).bind(channel_id.to_owned()).bind(update_id);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await
}

/// Returns whether an update that continues a conversation is being handled.
pub(crate) async fn is_being_handled(store: &Store, owner: &str, conversation_id: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<bool>(IS_BEING_HANDLED).bind(owner.to_owned()).bind(conversation_id.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await
}

/// Returns how many updates of a channel are not handled.
pub(crate) async fn count_open(store: &Store, channel_id: &str) -> Result<i64, StoreError> {
    let count = sql::query_scalar::<i64>(COUNT).bind(channel_id.to_owned());
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}

/// Returns how many updates of a queue are not handled.
pub(crate) async fn count_open_in_queue(store: &Store, channel_id: &str, queue: &str) -> Result<i64, StoreError> {
    let count = sql::query_scalar::<i64>(COUNT_IN_QUEUE).bind(channel_id.to_owned()).bind(queue.to_owned());
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}

/// Returns the queues of all channels with updates that are not handled.
pub(crate) async fn open_queues(store: &Store) -> Result<Vec<OpenQueue>, StoreError> {
    store.rows(sql::query(OPEN_QUEUES), read_queue).await
}

fn read_queue(row: &Row) -> Result<OpenQueue, StoreError> {
    Ok(OpenQueue { channel_id: row.try_get("channel_id")?, queue: row.try_get("queue")?, owner: row.try_get("owner")? })
}

/// Ends the updates that were received before a time. Returns their channels and numbers.
pub(crate) async fn give_up(store: &Store, before: i64, now: i64) -> Result<Vec<(String, i64)>, StoreError> {
    store
        .write(move |db| {
            Box::pin(async move {
                sql::query(GIVE_UP).bind(before).bind(now).fetch_all(db).await?.iter().map(read_key).collect()
            })
        })
        .await
}

fn read_key(row: &Row) -> Result<(String, i64), StoreError> {
    Ok((row.try_get("channel_id")?, row.try_get("update_id")?))
}

/// Deletes old rows of all owners.
pub(crate) async fn prune(store: &Store, now: i64) -> Result<(), StoreError> {
    store
        .write(move |db| {
            Box::pin(async move {
                for (delete, kept) in PRUNE {
                    sql::query(delete).bind(now - kept).execute(&mut *db).await?;
                }
                Ok(())
            })
        })
        .await
}
