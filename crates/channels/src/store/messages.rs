//! Table `channel_messages`: which messages answer an update.

use ::store::sql::{self, Db};
use ::store::{Store, StoreError};

const LIST: &str = "SELECT message_id FROM channel_messages WHERE channel_id = $1 AND update_id = $2 ORDER BY part";

const SET: &str = "
    INSERT INTO channel_messages (channel_id, update_id, part, owner, message_id, sent_at) VALUES ($1, $2, $3, $4, $5, $6)";

const DELETE_FROM: &str = "DELETE FROM channel_messages WHERE channel_id = $1 AND update_id = $2 AND part >= $3";

/// Returns the messages that answer an update, in their order.
pub(crate) async fn messages(store: &Store, channel_id: &str, update_id: i64) -> Result<Vec<String>, StoreError> {
    let list = sql::query_scalar::<String>(LIST).bind(channel_id.to_owned()).bind(update_id);
    store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await
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

/// Forgets messages from a part on.
pub(crate) async fn delete_messages_from(
    db: &mut Db,
    channel_id: String,
    update_id: i64,
    part: i64,
) -> Result<(), StoreError> {
    let delete = sql::query(DELETE_FROM).bind(channel_id).bind(update_id).bind(part);
    Ok(delete.execute(db).await.map(drop)?)
}
