//! The runs of agents without a conversation, of all users.

use super::{ListCursor, MAX_LISTED};
use crate::run::agent_runs::AgentRunPhase;
use crate::run::invocations::status;
use crate::sql::{self, QueryBuilder, Row};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use wire::EndReason;
use wire::invoke::InvocationStatus;

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminInvocation {
    /// Its id.
    pub id: String,
    /// The user for whom it runs.
    pub owner: String,
    /// The user's name, if they have an account here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// The agent.
    pub agent_id: String,
    /// How far it is.
    pub status: InvocationStatus,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// The message for its caller, if it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The requests to models so far.
    pub requests: i64,
    /// The sum of input and output tokens.
    pub tokens: f64,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// When it was requested; Unix time, milliseconds.
    pub created_at: i64,
    /// When it ended; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
}

/// A filter for the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InvocationFilter {
    /// Only those of this user.
    pub owner: Option<String>,
    /// Only those of this agent.
    pub agent_id: Option<String>,
    /// Only those that are so far.
    pub status: Option<InvocationStatus>,
    /// Requested at this time or later; Unix time, milliseconds.
    pub from: Option<i64>,
    /// Requested before this time; Unix time, milliseconds.
    pub to: Option<i64>,
}

const COLUMNS: &str = "
    SELECT i.id, i.owner, i.agent_id, i.status, i.reason, i.error, i.created_at, i.ended_at, a.phase,
        (SELECT name FROM users WHERE id = i.owner) AS owner_name,
        (SELECT count(*) FROM steps s WHERE s.run_id = i.id AND s.conversation_id IS NULL) AS requests,
        (SELECT total(s.input_tokens) + total(s.output_tokens) FROM steps s
            WHERE s.run_id = i.id AND s.conversation_id IS NULL) AS tokens,
        (SELECT total(s.cost_usd) FROM steps s WHERE s.run_id = i.id AND s.conversation_id IS NULL) AS cost_usd
    FROM invocations i LEFT JOIN agent_runs a ON a.id = i.id WHERE i.created_at >= ";

const COUNT_WAITING: &str =
    "SELECT count(*) FROM (SELECT 1 FROM agent_runs WHERE phase = 'waiting' LIMIT $1) AS waiting";

/// Returns the condition of a status.
fn condition(status: InvocationStatus) -> &'static str {
    match status {
        InvocationStatus::Pending => " AND i.status = 'running' AND a.phase = 'pending'",
        InvocationStatus::Waiting => " AND i.status = 'running' AND a.phase = 'waiting'",
        InvocationStatus::Running => " AND i.status = 'running' AND (a.phase IS NULL OR a.phase = 'running')",
        InvocationStatus::Succeeded => " AND i.status = 'succeeded'",
        InvocationStatus::Timeout => " AND i.status = 'timeout'",
        InvocationStatus::Stopped => " AND i.status = 'failed' AND i.reason IN ('stoppedByUser', 'stoppedByAdmin')",
        InvocationStatus::Failed => {
            " AND i.status = 'failed' AND (i.reason IS NULL OR i.reason NOT IN ('stoppedByUser', 'stoppedByAdmin'))"
        }
    }
}

impl Store {
    /// Returns the runs without a conversation of all users, newest first, at most `limit` (and [`MAX_LISTED`]) after
    /// `after`, each with its cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor is not one of this list.
    pub async fn all_invocations(
        &self,
        filter: InvocationFilter,
        limit: u32,
        after: Option<ListCursor>,
    ) -> Result<Vec<(AdminInvocation, ListCursor)>, StoreError> {
        let InvocationFilter { owner, agent_id, status, from, to } = filter;
        let mut query = QueryBuilder::new(COLUMNS);
        query.push_bind(from.unwrap_or(i64::MIN)).push(" AND i.created_at < ").push_bind(to.unwrap_or(i64::MAX));
        if let Some(owner) = owner {
            query.push(" AND i.owner = ").push_bind(owner);
        }
        if let Some(agent_id) = agent_id {
            query.push(" AND i.agent_id = ").push_bind(agent_id);
        }
        if let Some(status) = status {
            query.push(condition(status));
        }
        if let Some(place) = after {
            query.push(" AND (i.created_at, i.id) < (").push_bind(place.number::<i64>()?);
            query.push(", ").push_bind(place.id).push(")");
        }
        query.push(" ORDER BY i.created_at DESC, i.id DESC LIMIT ").push_bind(limit.min(MAX_LISTED));
        self.rows(query.build(), row).await
    }

    /// Counts the runs without a conversation that wait for a decision, up to `most`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_waiting_invocations(&self, most: u32) -> Result<i64, StoreError> {
        let count = sql::query_scalar::<i64>(COUNT_WAITING).bind(most);
        self.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
    }
}

fn row(row: &Row) -> Result<(AdminInvocation, ListCursor), StoreError> {
    let reason = row.try_get::<Option<&str>>("reason")?.map(EndReason::named);
    let phase = row.try_get::<Option<&str>>("phase")?.map(AgentRunPhase::named);
    let found = AdminInvocation {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        owner_name: row.try_get("owner_name")?,
        agent_id: row.try_get("agent_id")?,
        status: status(row.try_get("status")?, phase, reason),
        reason,
        error: row.try_get("error")?,
        requests: row.try_get("requests")?,
        tokens: row.try_get("tokens")?,
        cost_usd: row.try_get("cost_usd")?,
        created_at: row.try_get("created_at")?,
        ended_at: row.try_get("ended_at")?,
    };
    let place = ListCursor { key: found.created_at.to_string(), id: found.id.clone() };
    Ok((found, place))
}
