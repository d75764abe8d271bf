//! Table `invocation_calls`: the tool calls of running invocations. A call is recorded before its tool runs and deleted
//! with its entry in the audit log, so that recovery can log the calls that a dead server was executing.

use crate::run::agent_runs::{InvocationProgress, record_progress};
use crate::sql::{self, Db, Row};
use crate::{AuditEntry, AuditOutcome, GateDecision, Store, StoreError, audit};
use serde_json::Value;

/// A call id may occur again in a later reply, after the call with the same id has ended.
const START: &str = "
    INSERT INTO invocation_calls (invocation_id, call_id, agent_id, tool, arguments, gates, started_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (invocation_id, call_id) DO UPDATE SET agent_id = excluded.agent_id, tool = excluded.tool,
        arguments = excluded.arguments, gates = excluded.gates, started_at = excluded.started_at";

const END: &str = "DELETE FROM invocation_calls WHERE invocation_id = $1 AND call_id = $2";

const LEFT: &str = "
    SELECT c.invocation_id, c.call_id, c.agent_id, c.tool, c.arguments, c.gates, i.owner
    FROM invocation_calls c JOIN invocations i ON i.id = c.invocation_id
    WHERE i.status <> 'running' ORDER BY c.started_at, c.invocation_id, c.call_id LIMIT 1000";

/// The calls of one invocation.
const CALLS: &str = "
    SELECT c.invocation_id, c.call_id, c.agent_id, c.tool, c.arguments, c.gates, i.owner
    FROM invocation_calls c JOIN invocations i ON i.id = c.invocation_id
    WHERE c.invocation_id = $1 ORDER BY c.started_at, c.call_id LIMIT 1000";

impl Store {
    /// Records what an invocation has done. A tool must not run unless its start was recorded: `started`
    /// is what the audit log will say if the call is interrupted; its run is the invocation.
    ///
    /// # Errors
    /// The database failed; nothing is recorded then.
    pub async fn record_invocation(&self, id: &str, progress: InvocationProgress) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |db| Box::pin(async move { record_progress(db, &id, progress).await })).await
    }
}

/// Records a call of an invocation before its tool runs.
pub(super) async fn start(db: &mut Db, entry: AuditEntry) -> Result<(), StoreError> {
    let gates = serde_json::to_string(&entry.gates)
        .map_err(|error| StoreError::Failed(format!("the decisions about a call cannot be encoded: {error}")))?;
    let start = sql::query(START).bind(entry.run_id).bind(entry.call_id).bind(entry.agent_id).bind(entry.tool);
    start.bind(entry.arguments.to_string()).bind(gates).bind(entry.at).execute(db).await?;
    Ok(())
}

/// Appends the audit entries of calls that have ended, some of which may never have started.
pub(super) async fn end(db: &mut Db, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    for AuditEntry { run_id, call_id, .. } in &entries {
        sql::query(END).bind(run_id.as_str()).bind(call_id.as_str()).execute(&mut *db).await?;
    }
    audit::append_audit(db, entries).await
}

/// Logs the calls of an invocation as interrupted.
pub(super) async fn interrupt(db: &mut Db, id: &str, now: i64) -> Result<(), StoreError> {
    loop {
        let rows = sql::query(CALLS).bind(id).fetch_all(&mut *db).await?;
        if rows.is_empty() {
            return Ok(());
        }
        end(db, rows.iter().map(|row| interrupted(row, now)).collect::<Result<_, _>>()?).await?;
    }
}

/// Logs the calls of invocations that have ended without them.
pub(super) async fn interrupt_left(db: &mut Db, now: i64) -> Result<(), StoreError> {
    loop {
        let rows = sql::query(LEFT).fetch_all(&mut *db).await?;
        if rows.is_empty() {
            return Ok(());
        }
        end(db, rows.iter().map(|row| interrupted(row, now)).collect::<Result<_, _>>()?).await?;
    }
}

/// Reads a row. Fields that are damaged are left empty, because the call must be logged anyway.
fn interrupted(row: &Row, now: i64) -> Result<AuditEntry, StoreError> {
    let invocation: String = row.try_get("invocation_id")?;
    Ok(AuditEntry {
        at: now,
        user_id: row.try_get("owner")?,
        agent_id: row.try_get("agent_id")?,
        conversation_id: String::new(),
        message_id: invocation.clone(),
        run_id: invocation,
        call_id: row.try_get("call_id")?,
        tool: row.try_get("tool")?,
        arguments: serde_json::from_str::<Value>(row.try_get("arguments")?).unwrap_or_default(),
        gates: serde_json::from_str::<Vec<GateDecision>>(row.try_get("gates")?).unwrap_or_default(),
        outcome: AuditOutcome::Interrupted,
        duration_ms: None,
    })
}
