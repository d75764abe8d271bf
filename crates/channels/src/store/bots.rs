//! Table `channel_bots`: how people find the bots, and where reading their messages continues.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// A bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BotRow {
    pub(crate) channel_id: String,
    pub(crate) name: String,
}

const ALL: &str = "SELECT channel_id, name FROM channel_bots";

const SET: &str = "
    INSERT INTO channel_bots (channel_id, name) VALUES ($1, $2)
    ON CONFLICT (channel_id) DO UPDATE SET name = excluded.name";

const POSITION: &str = "SELECT position FROM channel_bots WHERE channel_id = $1";

const SET_POSITION: &str = "UPDATE channel_bots SET position = $2 WHERE channel_id = $1";

fn read(row: &Row) -> Result<BotRow, StoreError> {
    Ok(BotRow { channel_id: row.try_get("channel_id")?, name: row.try_get("name")? })
}

/// Returns all bots. There are as many as channels.
pub(crate) async fn bots(store: &Store) -> Result<Vec<BotRow>, StoreError> {
    store.rows(sql::query(ALL), read).await
}

/// Stores a bot.
pub(crate) async fn set_bot(db: &mut Db, bot: BotRow) -> Result<(), StoreError> {
    let set = sql::query(SET).bind(bot.channel_id).bind(bot.name);
    Ok(set.execute(db).await.map(drop)?)
}

/// Returns the position at which reading the messages of a bot continues, as JSON of its messenger.
pub(crate) async fn position(store: &Store, channel_id: &str) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<Option<String>>(POSITION).bind(channel_id.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?.flatten()) })).await
}

/// Stores the position at which reading the messages of a bot continues. The bot is known already.
pub(crate) async fn set_position(db: &mut Db, channel_id: String, position: Option<String>) -> Result<(), StoreError> {
    Ok(sql::query(SET_POSITION).bind(channel_id).bind(position).execute(db).await.map(drop)?)
}
