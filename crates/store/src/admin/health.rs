//! The health of agents and tools: the last runs of an agent, and error rates of tools.

use crate::sql::{self, Row};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// The maximum number of listed runs of an agent.
pub const MAX_RECENT_RUNS: u32 = 20;

/// The number of runs of a conversation whose causes are read, the last ones.
const MAX_CAUSES: u32 = 10_000;

/// The number of calls that are evaluated, the last ones.
pub const MAX_RECENT_CALLS: i64 = 10_000;

/// The maximum number of listed tools, those with the most errors first.
const MAX_TOOLS: u32 = 200;

/// A run in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentRun {
    /// The run's id.
    pub id: String,
    /// The conversation.
    pub conversation_id: String,
    /// Its title.
    pub title: String,
    /// How it ended; `running` while it is active.
    pub status: String,
    /// Unix time, milliseconds.
    pub started_at: i64,
    /// Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// Why it ended, as `wire::EndReason` names it; absent while it is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cause of a failure or the limit that was reached, for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The cost in US dollars, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The outcomes of the last calls of a tool by an agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolHealth {
    /// The agent.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub calls: i64,
    /// The number of calls that failed.
    pub errors: i64,
    /// The number of calls that a rule refused or a user denied.
    pub refused: i64,
    /// The average duration of a call, in milliseconds; absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_ms: Option<f64>,
    /// When the last call ended; Unix time, milliseconds.
    pub last_at: i64,
}

/// The newest runs are in the conversations that were changed last.
const RUNS: &str = "
    SELECT r.id, r.conversation_id, c.title, r.status, r.started_at, r.ended_at, r.reason, r.error,
        (SELECT sum(s.cost_usd) FROM steps s WHERE s.conversation_id = r.conversation_id AND s.run_id = r.id) AS cost_usd
    FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE r.conversation_id IN
        (SELECT id FROM conversations WHERE agent_id = $1 AND deleted_at IS NULL ORDER BY updated_at DESC, id DESC LIMIT $2)
    ORDER BY r.started_at DESC, r.no DESC LIMIT $2";

/// The newest run of each message counts.
const CAUSES: &str =
    "SELECT message_id, error FROM runs WHERE conversation_id = $1 ORDER BY started_at DESC, no DESC LIMIT $2";

/// Takes the newest rows first: with the index on agents, the whole log would be read.
const CALLS: &str = "
    SELECT agent_id, tool, count(*) AS calls,
        sum(CASE WHEN outcome = 'error' THEN 1 ELSE 0 END) AS errors,
        sum(CASE WHEN outcome IN ('denied', 'refused') THEN 1 ELSE 0 END) AS refused,
        avg(CAST(duration_ms AS DOUBLE PRECISION)) AS average_ms, max(at) AS last_at
    FROM (SELECT agent_id, tool, outcome, duration_ms, at FROM audit ORDER BY no DESC LIMIT $1) newest
    WHERE agent_id <> ''
    GROUP BY agent_id, tool ORDER BY 4 DESC, 3 DESC, agent_id, tool LIMIT $2";

impl Store {
    /// Returns the last runs of an agent, newest first, at most [`MAX_RECENT_RUNS`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn recent_runs(&self, agent_id: &str) -> Result<Vec<RecentRun>, StoreError> {
        let list = sql::query(RUNS).bind(agent_id.to_owned()).bind(MAX_RECENT_RUNS);
        self.rows(list, run).await
    }

    /// Returns why the newest runs of a conversation's messages failed, or which limit they reached, by message.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end_causes(&self, conversation_id: &str) -> Result<HashMap<String, String>, StoreError> {
        let list = sql::query(CAUSES).bind(conversation_id.to_owned()).bind(MAX_CAUSES);
        self.read(move |db| {
            Box::pin(async move {
                let mut newest: HashMap<String, Option<String>> = HashMap::new();
                for row in &list.fetch_all(db).await? {
                    let error = row.try_get("error")?;
                    newest.entry(row.try_get("message_id")?).or_insert(error);
                }
                Ok(newest.into_iter().filter_map(|(message, error)| Some((message, error?))).collect())
            })
        })
        .await
    }

    /// Returns the outcomes of the last [`MAX_RECENT_CALLS`] rows of the audit log, by agent and
    /// tool; most errors first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn tool_health(&self) -> Result<Vec<ToolHealth>, StoreError> {
        let list = sql::query(CALLS).bind(MAX_RECENT_CALLS).bind(MAX_TOOLS);
        self.rows(list, tool).await
    }
}

fn run(row: &Row) -> Result<RecentRun, StoreError> {
    Ok(RecentRun {
        id: row.try_get("id")?,
        conversation_id: row.try_get("conversation_id")?,
        title: row.try_get("title")?,
        status: row.try_get("status")?,
        started_at: row.try_get("started_at")?,
        ended_at: row.try_get("ended_at")?,
        reason: row.try_get("reason")?,
        error: row.try_get("error")?,
        cost_usd: row.try_get("cost_usd")?,
    })
}

fn tool(row: &Row) -> Result<ToolHealth, StoreError> {
    Ok(ToolHealth {
        agent_id: row.try_get("agent_id")?,
        tool: row.try_get("tool")?,
        calls: row.try_get("calls")?,
        errors: row.try_get("errors")?,
        refused: row.try_get("refused")?,
        average_ms: row.try_get("average_ms")?,
        last_at: row.try_get("last_at")?,
    })
}
