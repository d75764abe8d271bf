//! Table `channel_chats`: the conversation that each user has in a chat.

use ::store::sql::{self, Db};
use ::store::{Store, StoreError};

/// The state of a user in a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChatRow {
    pub(crate) conversation_id: Option<String>,
    pub(crate) model: Option<String>,
}

const ONE: &str =
    "SELECT conversation_id, model FROM channel_chats WHERE channel_id = $1 AND chat_id = $2 AND owner = $3";

const COUNT: &str = "SELECT count(*) FROM channel_chats WHERE channel_id = $1 AND owner = $2";

const SET: &str = "
    INSERT INTO channel_chats (channel_id, chat_id, owner, conversation_id, model, used_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (channel_id, chat_id, owner) DO UPDATE SET conversation_id = excluded.conversation_id,
        model = excluded.model, used_at = excluded.used_at";

const FORGET_OLDEST: &str = "
    DELETE FROM channel_chats WHERE channel_id = $1 AND owner = $2 AND chat_id = (
        SELECT chat_id FROM channel_chats WHERE channel_id = $1 AND owner = $2 ORDER BY used_at, chat_id LIMIT 1)";

/// Returns the state of a user's chat; `None` if they have written nothing there.
pub(crate) async fn chat(
    store: &Store,
    channel_id: &str,
    chat_id: &str,
    owner: &str,
) -> Result<Option<ChatRow>, StoreError> {
    let find = sql::query(ONE).bind(channel_id.to_owned()).bind(chat_id.to_owned()).bind(owner.to_owned());
    let read =
        |row: &sql::Row| Ok(ChatRow { conversation_id: row.try_get("conversation_id")?, model: row.try_get("model")? });
    store.optional_row(find, read).await
}

/// Returns in how many chats a user has written to a bot.
pub(crate) async fn count_chats(store: &Store, channel_id: &str, owner: &str) -> Result<i64, StoreError> {
    let count = sql::query_scalar::<i64>(COUNT).bind(channel_id.to_owned()).bind(owner.to_owned());
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}

/// Stores the state of a user's chat.
pub(crate) async fn set_chat(
    db: &mut Db,
    channel_id: String,
    chat_id: String,
    owner: String,
    chat: ChatRow,
    now: i64,
) -> Result<(), StoreError> {
    let set = sql::query(SET).bind(channel_id).bind(chat_id).bind(owner).bind(chat.conversation_id);
    Ok(set.bind(chat.model).bind(now).execute(db).await.map(drop)?)
}

/// Forgets the chat that a user has not used for the longest time. The conversation stays.
pub(crate) async fn forget_oldest_chat(db: &mut Db, channel_id: String, owner: String) -> Result<(), StoreError> {
    Ok(sql::query(FORGET_OLDEST).bind(channel_id).bind(owner).execute(db).await.map(drop)?)
}
