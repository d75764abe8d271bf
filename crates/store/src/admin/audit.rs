//! The audit log, newest first and filtered. `crate::audit` writes it and reads it in its own order.

use crate::audit::audit_row;
use crate::sql::Builder;
use crate::{AuditRow, MAX_AUDIT_ROWS, Store, StoreError};

/// Which rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// On whose behalf, or by whom.
    pub user_id: Option<String>,
    /// The tool, or what an administrator did.
    pub tool: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The conversation.
    pub conversation_id: Option<String>,
    /// How it ended, in the log's words.
    pub outcome: Option<String>,
    /// Ended then or later; Unix time, milliseconds.
    pub from: Option<i64>,
    /// Ended before.
    pub to: Option<i64>,
}

const COLUMNS: &str = "
    SELECT no, at, user_id, agent_id, conversation_id, message_id, run_id, call_id, tool, arguments, gates, outcome, duration_ms,
           previous, hash
    FROM audit WHERE true";

impl Store {
    /// Rows before number `before`, the newest first, at most `limit` (and [`MAX_AUDIT_ROWS`]).
    ///
    /// # Errors
    /// The database failed, or a row is damaged so that it cannot be read.
    pub async fn audit_list(
        &self,
        filter: AuditFilter,
        limit: u32,
        before: Option<i64>,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let mut query = Builder::new(COLUMNS);
        let columns = [
            (" AND user_id = ", filter.user_id),
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
        self.read(move |db| Box::pin(async move { query.build().fetch_all(db).await?.iter().map(audit_row).collect() }))
            .await
    }
}
