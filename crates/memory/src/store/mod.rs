//! The tables. Every function takes the user, and returns and changes only their rows.

mod blocks;
mod facts;
mod reads;
mod updates;
mod users;

pub(crate) use blocks::{Block, block, insert_block, present_sources};
pub(crate) use facts::{FactChange, FactTarget, NewFact, add_facts, change_fact, delete_all, delete_fact, facts};
pub(crate) use reads::{forget_pending, mark_read, note_message, noted, pending};
pub(crate) use updates::{Update, prune, undo, updates};
pub(crate) use users::{
    Totals, UserState, forget_blocks, is_on_for_all, lock, set_enabled, set_on_for_all, totals, user,
};

use ::store::{CapabilityTables, Migration, StoreError, Table};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "memory",
    migrations: &[Migration {
        name: "memory",
        sqlite: include_str!("../../migrations/sqlite/0001_memory.sql"),
        postgres: include_str!("../../migrations/postgres/0001_memory.sql"),
    }],
    tables: &[
        Table { name: "memory_users", key: "owner", owner: Some("owner") },
        Table { name: "memory_switch", key: "id", owner: None },
        // Rows of messages go with the conversations of the user.
        Table { name: "memory_reads", key: "conversation_id, message_id", owner: None },
        Table { name: "memory_updates", key: "id", owner: Some("owner") },
        Table { name: "memory_facts", key: "id", owner: Some("owner") },
        Table { name: "memory_blocks", key: "conversation_id, agent_id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The error of a row that cannot be read.
fn damaged() -> StoreError {
    StoreError::Invalid("a row of a memory is damaged")
}

/// Messages that are deleted, and those that follow them, although they can still be restored.
/// `$conversations` selects the conversations that matter.
macro_rules! with_deleted {
    ($conversations:literal, $($rest:expr),+) => {
        concat!(
            "WITH RECURSIVE deleted (conversation_id, id) AS (
                SELECT conversation_id, message_id FROM deleted_messages WHERE conversation_id IN (",
            $conversations,
            ")
                UNION
                SELECT m.conversation_id, m.id FROM deleted d
                JOIN messages m ON m.conversation_id = d.conversation_id AND m.parent_id = d.id
            ) ",
            $($rest),+
        )
    };
}
use with_deleted;
