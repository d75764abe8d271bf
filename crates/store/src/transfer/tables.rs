//! The tables to transfer, and their columns.

use crate::StoreError;
use crate::schema::Table;
use crate::sql::{Db, Sql, query};
use std::sync::Arc;

/// A table whose rows are deleted with the user by [`crate::Store::delete_user`], if they belong to one.
const fn table(name: &'static str, key: &'static str) -> Table {
    Table { name, key, owner: None }
}

/// The tables of this crate, ordered so that rows follow those that they refer to. The search index is rebuilt, and the list
/// of live servers is not transferred.
pub(crate) const CORE_TABLES: &[Table] = &[
    table("folders", "id"),
    table("conversations", "id"),
    table("messages", "no"),
    table("runs", "no"),
    table("run_events", "no"),
    table("tool_calls", "conversation_id, call_id"),
    table("invocations", "id"),
    table("agent_runs", "id"),
    table("agent_run_approvers", "run_id, role"),
    table("invocation_calls", "invocation_id, call_id"),
    table("audit", "no"),
    table("grants", "id"),
    table("users", "id"),
    table("user_identities", "id"),
    table("user_groups", "id"),
    table("user_group_members", "group_id, user_id"),
    table("scim_users", "user_id"),
    table("second_factors", "user_id"),
    table("invitations", "id"),
    table("sessions", "id"),
    table("api_keys", "id"),
    table("outside_keys", "id"),
    table("feedback", "conversation_id, message_id, owner"),
    table("event_claims", "conversation_id, message_id, key"),
    table("deleted_messages", "conversation_id, message_id"),
    table("titles", "no"),
    table("shares", "id"),
    table("files", "id"),
    table("file_pieces", "file_id, no"),
    table("file_uses", "file_id, conversation_id"),
    table("steps", "no"),
    table("usage_days", "owner, day, agent_id"),
    table("model_days", "day, agent_id, owner, provider, model"),
    table("secrets", "name"),
    table("jobs", "id"),
    table("events", "name, event_key"),
];

/// The tables that are not transferred with those of this crate. Migration 16 creates tables of a
/// capability, from the time before capabilities had migrations.
#[cfg(test)]
const LEFT: &[&str] =
    &["_sqlx_migrations", "custom_agent_versions", "custom_agents", "replicas", "search", "sqlite_sequence"];

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Int,
    Real,
    Text,
    Blob,
}

/// By name, because the two databases may have the columns in different orders.
const COLUMNS: Sql = Sql::pair(
    "SELECT name, type FROM pragma_table_info($1) ORDER BY name",
    "SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY column_name COLLATE \"C\"",
);

impl Table {
    pub(super) async fn columns(&self, db: &mut Db) -> Result<Vec<Column>, StoreError> {
        let rows = query(COLUMNS).bind(self.name).fetch_all(db).await?;
        let column = |row: &crate::sql::Row| {
            let kind = match row.try_get::<&str>("type")? {
                "INTEGER" | "bigint" => ColumnKind::Int,
                "REAL" | "double precision" => ColumnKind::Real,
                "TEXT" | "text" => ColumnKind::Text,
                "BLOB" | "bytea" => ColumnKind::Blob,
                kind => {
                    return Err(StoreError::Open(format!(
                        "`{}` has a column of the unsupported type {kind}",
                        self.name
                    )));
                }
            };
            Ok(Column { name: row.try_get("name")?, kind })
        };
        rows.iter().map(column).collect()
    }

    pub(super) fn select(&self, columns: &[Column]) -> Arc<str> {
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        format!("SELECT {} FROM {} ORDER BY {}", names.join(", "), self.name, self.key).into()
    }
}

#[cfg(test)]
mod tests;
