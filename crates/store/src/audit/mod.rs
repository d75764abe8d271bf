//! Table `audit`: one row for each tool call of an agent, chained by hash (`chain`). Rows are
//! only ever appended. The log belongs to the operator, so nothing here takes an owner.

pub(crate) mod chain;

use crate::audit::chain::AuditHead;
use crate::sql::{self, Db, Query, Row, without_nul};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum number of rows of the audit log per read. A row has at most some tens of kilobytes.
pub const MAX_AUDIT_ROWS: u32 = 200;

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditOutcome {
    /// The tool returned a result.
    Ok,
    /// The tool returned an error.
    Error,
    /// The user denied the call; it did not run.
    Denied,
    /// A rule refused the call; it did not run.
    Refused,
    /// The call was stopped, or the server died: it may or may not have had an effect.
    Interrupted,
}

impl AuditOutcome {
    /// Returns the name that is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A check that decides whether a call runs. More may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Gate {
    /// The tool exists, and the arguments match its schema.
    Schema,
    /// The agent's policy.
    Policy,
    /// The user's approval.
    Approval,
    /// The limits of the agent for one turn.
    Limit,
    /// Where the call runs, if not on the server.
    Execution,
}

/// The decision of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GateVerdict {
    /// It asked a user.
    Asked,
    /// A user approved the call.
    Approved,
    /// A user denied the call.
    Denied,
    /// The gate itself refused the call.
    Refused,
    /// It left the execution to another party, who reports the outcome.
    Delegated,
    /// The call was interrupted before and is repeated.
    Repeated,
}

/// A decision about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateDecision {
    /// The gate.
    pub gate: Gate,
    /// Its decision.
    pub decision: GateVerdict,
    /// The user who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An ended call to append to the log. The caller has masked secrets and truncated long texts.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// When the call ended; Unix time, milliseconds.
    pub at: i64,
    /// The user on whose behalf the call was made.
    pub user_id: String,
    /// The agent that made the call.
    pub agent_id: String,
    /// The conversation.
    pub conversation_id: String,
    /// The assistant message that contains the call; a call's id is unique within it.
    pub message_id: String,
    /// The run in which the call ended, or the last one before that.
    pub run_id: String,
    /// The call's id.
    pub call_id: String,
    /// The tool's name, as the model gave it.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The decisions about the call, in order.
    pub gates: Vec<GateDecision>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// How long the tool ran, in milliseconds; `None` if it did not run, or did not run on the server.
    pub duration_ms: Option<i64>,
}

/// A row as it is stored, for checks and lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// The row's number: from 1 on, without gaps.
    pub number: i64,
    /// When the call ended; Unix time, milliseconds.
    pub at: i64,
    /// The user on whose behalf the call was made.
    pub user_id: String,
    /// The agent.
    pub agent_id: String,
    /// The conversation.
    pub conversation_id: String,
    /// The assistant message.
    pub message_id: String,
    /// The run.
    pub run_id: String,
    /// The call's id.
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
    /// JSON: a list of [`GateDecision`]s.
    pub gates: String,
    /// The name of an [`AuditOutcome`].
    pub outcome: String,
    /// How long the tool ran, in milliseconds.
    pub duration_ms: Option<i64>,
    /// The hash of the previous row.
    pub previous: String,
    /// The hash of this row.
    pub hash: String,
}

impl AuditRow {
    /// Creates the row that continues the chain after `head`.
    fn after(head: &AuditHead, entry: AuditEntry) -> Result<Self, StoreError> {
        let number = head.number.checked_add(1).ok_or(StoreError::Invalid("the audit log has no number left"))?;
        let gates = serde_json::to_string(&entry.gates)
            .map_err(|error| StoreError::Failed(format!("an audit row cannot be encoded: {error}")))?;
        // Stored without NUL, as in both databases: the hash must cover what is read back.
        let mut row = Self {
            number,
            at: entry.at,
            user_id: without_nul(entry.user_id),
            agent_id: without_nul(entry.agent_id),
            conversation_id: without_nul(entry.conversation_id),
            message_id: without_nul(entry.message_id),
            run_id: without_nul(entry.run_id),
            call_id: without_nul(entry.call_id),
            tool: without_nul(entry.tool),
            arguments: entry.arguments.to_string(),
            gates,
            outcome: entry.outcome.name().to_owned(),
            duration_ms: entry.duration_ms,
            previous: head.hash.clone(),
            hash: String::new(),
        };
        row.hash = row.computed_hash();
        Ok(row)
    }
}

const HEAD: &str = "SELECT no, hash FROM audit ORDER BY no DESC LIMIT 1";

/// The first report of a call's end wins, as in the ledger.
const INSERT: &str = "
    INSERT INTO audit
        (no, at, user_id, agent_id, conversation_id, message_id, run_id, call_id, tool, arguments, gates, outcome,
         duration_ms, previous, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    ON CONFLICT (conversation_id, message_id, call_id) DO NOTHING";

const PAGE: &str = "
    SELECT no, at, user_id, agent_id, conversation_id, message_id, run_id, call_id, tool, arguments, gates, outcome,
           duration_ms, previous, hash
    FROM audit WHERE no >= $1 AND at >= $2 ORDER BY no LIMIT $3";

impl Store {
    /// Appends rows in the given order. A call that has a row already keeps it.
    ///
    /// # Errors
    /// The database failed; no row is added then.
    pub async fn append_audit(&self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.write_repeatable(move |db| Box::pin(append_audit(db, entries.clone()))).await
    }

    /// Returns rows from number `from` on whose calls ended at `since` (Unix time, milliseconds) or
    /// later, in order, at most [`MAX_AUDIT_ROWS`]; `i64::MIN` means from the beginning.
    ///
    /// # Errors
    /// The database failed, or a row is damaged so that it cannot be read.
    pub async fn audit_rows(&self, from: i64, since: i64) -> Result<Vec<AuditRow>, StoreError> {
        self.rows(sql::query(PAGE).bind(from).bind(since).bind(MAX_AUDIT_ROWS), audit_row).await
    }

    /// As [`execute`], in a transaction of its own.
    pub(crate) async fn execute_audited(
        &self,
        statement: Query,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        self.write(move |db| Box::pin(execute(db, statement, entry))).await
    }
}

/// Appends rows to the audit log within the writer's transaction, for writes that must not happen
/// without their row. The head is read in the same transaction, so the
/// chain stays intact whatever happened to earlier transactions, in this process or another.
///
/// # Errors
/// The database failed.
pub async fn append_audit(db: &mut Db, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut head = head(db).await?;
    for entry in entries {
        let row = AuditRow::after(&head, entry)?;
        if insert(db, &row).await? {
            head = row.head();
        }
    }
    Ok(())
}

/// Executes a statement, and appends `entry` if it changed a row. Returns whether it did.
pub(crate) async fn execute(db: &mut Db, statement: Query, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
    let is_done = statement.execute(&mut *db).await?.rows_affected() > 0;
    append_audit(db, entry.into_iter().filter(|_| is_done).collect()).await?;
    Ok(is_done)
}

async fn head(db: &mut Db) -> Result<AuditHead, StoreError> {
    let Some(row) = sql::query(HEAD).fetch_optional(db).await? else { return Ok(AuditHead::default()) };
    Ok(AuditHead { number: row.try_get("no")?, hash: row.try_get("hash")? })
}

/// Inserts a row. Returns false if the call has a row already.
async fn insert(db: &mut Db, row: &AuditRow) -> Result<bool, StoreError> {
    let done = sql::query(INSERT)
        .bind(row.number)
        .bind(row.at)
        .bind(&row.user_id)
        .bind(&row.agent_id)
        .bind(&row.conversation_id)
        .bind(&row.message_id)
        .bind(&row.run_id)
        .bind(&row.call_id)
        .bind(&row.tool)
        .bind(&row.arguments)
        .bind(&row.gates)
        .bind(&row.outcome)
        .bind(row.duration_ms)
        .bind(&row.previous)
        .bind(&row.hash)
        .execute(db)
        .await?;
    Ok(done.rows_affected() > 0)
}

pub(crate) fn audit_row(row: &Row) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        number: row.try_get("no")?,
        at: row.try_get("at")?,
        user_id: row.try_get("user_id")?,
        agent_id: row.try_get("agent_id")?,
        conversation_id: row.try_get("conversation_id")?,
        message_id: row.try_get("message_id")?,
        run_id: row.try_get("run_id")?,
        call_id: row.try_get("call_id")?,
        tool: row.try_get("tool")?,
        arguments: row.try_get("arguments")?,
        gates: row.try_get("gates")?,
        outcome: row.try_get("outcome")?,
        duration_ms: row.try_get("duration_ms")?,
        previous: row.try_get("previous")?,
        hash: row.try_get("hash")?,
    })
}
