//! The tables. Each row but those of bots belongs to a user, and goes with them.

mod bots;
mod cards;
mod chats;
mod links;
mod messages;
mod updates;

pub(crate) use bots::{BotRow, bots, position, set_bot, set_position};
pub(crate) use cards::{
    Card, NewCard, add_card, card, card_of_message, newest_question, open_cards, set_card_closed, set_card_message,
    shown_cards,
};
pub(crate) use chats::{ChatRow, chat, count_chats, forget_oldest_chat, set_chat};
pub(crate) use links::{
    Link, LinkOutcome, NewCode, NewLink, account_of_code, add_code, add_link, confirm, delete_code, delete_link,
    link_by_id, link_of_person, links_of_user, use_code,
};
pub(crate) use messages::{FILE_PARTS, delete_messages_from, messages, sent_at, sent_files, set_message};
pub(crate) use updates::{
    NewUpdate, OpenQueue, TRIED_MS, UpdateRow, accept, begin, count_open, count_open_in_queue, finish, give_up,
    is_being_handled, is_known, next_update, open_queues, prune, submitted,
};

use ::store::{CapabilityTables, Migration, SqliteBaseline, StoreError, Table};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "channels",
    migrations: &[
        Migration {
            name: "channels",
            sqlite: include_str!("../../migrations/sqlite/0001_channels.sql"),
            postgres: include_str!("../../migrations/postgres/0001_channels.sql"),
        },
        Migration {
            name: "positions",
            sqlite: include_str!("../../migrations/sqlite/0002_positions.sql"),
            postgres: include_str!("../../migrations/postgres/0002_positions.sql"),
        },
        Migration {
            name: "closed_cards",
            sqlite: include_str!("../../migrations/sqlite/0003_closed_cards.sql"),
            postgres: include_str!("../../migrations/postgres/0003_closed_cards.sql"),
        },
    ],
    tables: &[
        Table { name: "channel_bots", key: "channel_id", owner: None },
        Table { name: "channel_links", key: "id", owner: Some("owner") },
        Table { name: "channel_codes", key: "code_hash", owner: Some("owner") },
        Table { name: "channel_chats", key: "channel_id, chat_id, owner", owner: Some("owner") },
        Table { name: "channel_updates", key: "channel_id, update_id", owner: Some("owner") },
        Table { name: "channel_messages", key: "channel_id, update_id, part", owner: Some("owner") },
        Table { name: "channel_cards", key: "id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: Some(SqliteBaseline {
        version: 3,
        statements: include_str!("../../migrations/sqlite_baseline.sql"),
    }),
};

/// Reads JSON that a row holds.
fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Failed(error.to_string()))
}
