//! Table `channel_messages`: which messages answer an update. Those of files have larger numbers than those of text.

use ::store::sql::{self, Db};
use ::store::{Store, StoreError};

/// The number of the first file.
pub(crate) const FILE_PARTS: i64 = 1_000;

const LIST: &str = "
    SELECT message_id FROM channel_messages WHERE channel_id = $1 AND update_id = $2 AND part < $3 ORDER BY part";

const FILES: &str = "SELECT part FROM channel_messages WHERE channel_id = $1 AND update_id = $2 AND part >= $3";

const SENT_AT: &str =
    "SELECT max(sent_at) FROM channel_messages WHERE owner = $1 AND channel_id = $2 AND message_id = $3";

const SET: &str = "
    INSERT INTO channel_messages (channel_id, update_id, part, owner, message_id, sent_at) VALUES ($1, $2, $3, $4, $5, $6)";

const DELETE_FROM: &str =
    "DELETE FROM channel_messages WHERE channel_id = $1 AND update_id = $2 AND part >= $3 AND part < $4";

/// Returns the messages with text that answer an update, in their order.
pub(crate) async fn messages(store: &Store, channel_id: &str, update_id: i64) -> Result<Vec<String>, StoreError> {
    let list = sql::query_scalar::<String>(LIST).bind(channel_id.to_owned()).bind(update_id).bind(FILE_PARTS);
    store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await
}

/// Returns the numbers of the files that were sent to answer an update, from [`FILE_PARTS`] on.
pub(crate) async fn sent_files(store: &Store, channel_id: &str, update_id: i64) -> Result<Vec<i64>, StoreError> {
    let list = sql::query_scalar::<i64>(FILES).bind(channel_id.to_owned()).bind(update_id).bind(FILE_PARTS);
    store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await
}

/// Returns when a message was sent to a user, as Unix time in milliseconds; `None` if it was not, or long ago.
pub(crate) async fn sent_at(
    store: &Store,
    (channel_id, owner): (&str, &str),
    message_id: &str,
) -> Result<Option<i64>, StoreError> {
    let find = sql::query_scalar::<Option<i64>>(SENT_AT).bind(owner.to_owned()).bind(channel_id.to_owned());
    let find = find.bind(message_id.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await
}

/// Records a message that was sent.
pub(crate) async fn set_message(
    db: &mut Db,
    (channel_id, update_id, part): (String, i64, i64),
    owner: String,
    message_id: String,
    now: i64,
) -> Result<(), StoreError> {
    let set = sql::query(SET).bind(channel_id).bind(update_id).bind(part).bind(owner).bind(message_id).bind(now);
    Ok(set.execute(db).await.map(drop)?)
}

/// Forgets messages with text from a part on.
pub(crate) async fn delete_messages_from(
    db: &mut Db,
    channel_id: String,
    update_id: i64,
    part: i64,
) -> Result<(), StoreError> {
    let delete = sql::query(DELETE_FROM).bind(channel_id).bind(update_id).bind(part).bind(FILE_PARTS);
    Ok(delete.execute(db).await.map(drop)?)
}
