//! The audit log with filters, newest row first. `crate::audit` appends rows and reads them in order.

use crate::audit::audit_row;
use crate::sql::{self, QueryBuilder, Sql};
use crate::{AuditRow, MAX_AUDIT_ROWS, Store, StoreError};
use std::collections::HashMap;

/// The subject of a row. The names of agents' tools never contain a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditKind {
    /// Tool calls of agents.
    Tools,
    /// Sign-ins and changes of accounts: `account:…`.
    Accounts,
    /// Actions of administrators: `admin:…`.
    Administration,
}

/// A filter for the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The user on whose behalf, or by whom, the call was made: the user's id or normalized name.
    pub user: Option<String>,
    /// Only rows of this kind.
    pub kind: Option<AuditKind>,
    /// The name of the tool or action.
    pub tool: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The conversation.
    pub conversation_id: Option<String>,
    /// The name of the outcome.
    pub outcome: Option<String>,
    /// Ended at this time or later; Unix time, milliseconds.
    pub from: Option<i64>,
    /// Ended before this time; Unix time, milliseconds.
    pub to: Option<i64>,
}

const COLUMNS: &str = "
    SELECT no, at, user_id, agent_id, conversation_id, message_id, run_id, call_id, tool, arguments, gates, outcome, duration_ms,
           previous, hash
    FROM audit WHERE true";

/// The users with this id or name who have rows: users of this server, or external users with API keys. They are found
/// first, so that the rows of one user are read in the order of an index. They are parameters of the next statement, so
/// there is a limit, which is far above the number of users with one name.
const OF_USER: &str = "
    SELECT named.id FROM (
        SELECT CAST($1 AS TEXT) AS id
        UNION SELECT id FROM users WHERE name_key = $2
        UNION SELECT user_id FROM outside_keys WHERE lower(user_name) = $2
    ) AS named WHERE EXISTS (SELECT 1 FROM audit a WHERE a.user_id = named.id)
    LIMIT 1000";

const NAMES: Sql = Sql::pair(
    "SELECT id, name FROM users WHERE id IN (SELECT value FROM json_each($1))
     UNION SELECT user_id, user_name FROM outside_keys
     WHERE user_name IS NOT NULL AND user_id IN (SELECT value FROM json_each($1))",
    "SELECT id, name FROM users WHERE id = ANY($1)
     UNION SELECT user_id, user_name FROM outside_keys WHERE user_name IS NOT NULL AND user_id = ANY($1)",
);

impl Store {
    /// Returns rows before number `before`, newest first, at most `limit` (and [`MAX_AUDIT_ROWS`]).
    ///
    /// # Errors
    /// The database failed, or a row is damaged so that it cannot be read.
    pub async fn audit_list(
        &self,
        filter: AuditFilter,
        limit: u32,
        before: Option<i64>,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let mut query = QueryBuilder::new(COLUMNS);
        if let Some(user) = filter.user {
            let named = sql::query(OF_USER).bind(user.clone()).bind(user.to_lowercase());
            let ids: Vec<String> = self.rows(named, |row| Ok(row.try_get("id")?)).await?;
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            push_users(&mut query, ids);
        }
        match filter.kind {
            Some(AuditKind::Tools) => query.push(" AND tool NOT LIKE 'admin:%' AND tool NOT LIKE 'account:%'"),
            Some(AuditKind::Accounts) => query.push(" AND tool >= 'account:' AND tool < 'account;'"),
            Some(AuditKind::Administration) => query.push(" AND tool >= 'admin:' AND tool < 'admin;'"),
            None => &mut query,
        };
        let columns = [
            (" AND tool = ", filter.tool),
            (" AND agent_id = ", filter.agent_id),
            (" AND conversation_id = ", filter.conversation_id),
            (" AND outcome = ", filter.outcome),
        ];
        for (sql, value) in columns {
            if let Some(value) = value {
                query.push(sql).push_bind(value);
            }
        }
        for (sql, value) in [(" AND at >= ", filter.from), (" AND at < ", filter.to), (" AND no < ", before)] {
            if let Some(value) = value {
                query.push(sql).push_bind(value);
            }
        }
        query.push(" ORDER BY no DESC LIMIT ").push_bind(limit.min(MAX_AUDIT_ROWS));
        self.rows(query.build(), audit_row).await
    }

    /// Returns the names of the users with these ids, as far as they are known.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_names(&self, ids: Vec<String>) -> Result<HashMap<String, String>, StoreError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let names = sql::query(NAMES).bind(ids);
        let names: Vec<(String, String)> =
            self.rows(names, |row| Ok((row.try_get("id")?, row.try_get("name")?))).await?;
        Ok(names.into_iter().collect())
    }
}

/// Appends the condition that a row is of one of these users.
fn push_users(query: &mut QueryBuilder, ids: Vec<String>) {
    for (index, id) in ids.into_iter().enumerate() {
        query.push(if index == 0 { " AND user_id IN (" } else { ", " }).push_bind(id);
    }
    query.push(")");
}
