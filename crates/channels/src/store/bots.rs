//! Table `channel_bots`: how far the updates of each bot were read.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// A bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BotRow {
    pub(crate) channel_id: String,
    pub(crate) account_id: String,
    pub(crate) name: String,
    pub(crate) next_update: i64,
}

const ALL: &str = "SELECT channel_id, account_id, name, next_update FROM channel_bots";

const SET: &str = "
    INSERT INTO channel_bots (channel_id, account_id, name, next_update) VALUES ($1, $2, $3, $4)
    ON CONFLICT (channel_id) DO UPDATE SET account_id = excluded.account_id, name = excluded.name,
        next_update = excluded.next_update";

fn read(row: &Row) -> Result<BotRow, StoreError> {
    Ok(BotRow {
        channel_id: row.try_get("channel_id")?,
        account_id: row.try_get("account_id")?,
        name: row.try_get("name")?,
        next_update: row.try_get("next_update")?,
    })
}

/// Returns all bots. There are as many as channels.
pub(crate) async fn bots(store: &Store) -> Result<Vec<BotRow>, StoreError> {
    store.read(|db| Box::pin(async move { sql::query(ALL).fetch_all(db).await?.iter().map(read).collect() })).await
}

/// Returns the bot of a channel.
pub(crate) async fn bot(store: &Store, channel_id: &str) -> Result<Option<BotRow>, StoreError> {
    Ok(bots(store).await?.into_iter().find(|bot| bot.channel_id == channel_id))
}

/// Stores a bot, and how far its updates were read.
pub(crate) async fn set_bot(db: &mut Db, bot: BotRow) -> Result<(), StoreError> {
    let set = sql::query(SET).bind(bot.channel_id).bind(bot.account_id).bind(bot.name).bind(bot.next_update);
    Ok(set.execute(db).await.map(drop)?)
}
