//! The tables of triggers. They belong to the administrators, so nothing here takes an owner.

mod deliveries;
mod prune;
mod states;

pub(crate) use deliveries::{
    Delivery, DeliveryOutcome, KeptRequest, MAX_SHOWN, NewDelivery, ReceivedDelivery, body, count_refused,
    end_delivery, forget_unstarted, insert_delivery, is_known, is_unstarted, known_keys, newest, received, running,
};
pub(crate) use prune::prune;
pub(crate) use states::{
    PauseOutcome, StateRow, advance, clear_failures, count_failure, count_paused, count_repeat, delete_states, ensure,
    find, pause, resume, states,
};

use crate::active::TriggerKey;
use ::store::{CapabilityTables, Migration, SqliteBaseline, Table};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "triggers",
    migrations: &[
        Migration {
            name: "triggers",
            sqlite: include_str!("../../migrations/sqlite/0001_triggers.sql"),
            postgres: include_str!("../../migrations/postgres/0001_triggers.sql"),
        },
        Migration {
            name: "delivery_headers",
            sqlite: include_str!("../../migrations/sqlite/0002_delivery_headers.sql"),
            postgres: include_str!("../../migrations/postgres/0002_delivery_headers.sql"),
        },
    ],
    tables: &[
        Table { name: "trigger_states", key: "workflow_id, trigger_id", owner: None },
        Table { name: "trigger_deliveries", key: "id", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: Some(SqliteBaseline {
        version: 2,
        statements: include_str!("../../migrations/sqlite_baseline.sql"),
    }),
};

/// Creates a statement whose first two parameters are the trigger.
fn of_trigger(sql: impl Into<::store::sql::Sql>, key: &TriggerKey) -> ::store::sql::Query {
    ::store::sql::query(sql).bind(&key.workflow_id).bind(&key.trigger_id)
}
