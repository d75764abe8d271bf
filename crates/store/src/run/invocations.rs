//! Table `invocations`: calls of agents by programs, outside of conversations, and their results.

use crate::run::agent_runs::{self, AgentRunPhase};
use crate::run::{invocation_calls, steps};
use crate::sql::{self, Db, Row, Sql};
use crate::{StepRecord, Store, StoreError};
use serde_json::Value;
use wire::EndReason;
use wire::invoke::{Invocation, InvocationStatus};

/// The maximum number of rows of the list.
const MAX_ROWS: u32 = 100;

const INSERT: &str = "
    INSERT INTO invocations (id, owner, agent_id, status, created_at, replica) VALUES ($1, $2, $3, 'running', $4, $5)";

/// Only a running invocation ends.
const FINISH: &str = "
    UPDATE invocations SET status = $2, output = $3, error = $4, usage = $5, ended_at = $6, reason = $7
    WHERE id = $1 AND status = 'running'";

/// With PostgreSQL, those of servers that are no longer alive; with SQLite, all. Those that outlive
/// their request are continued by a job instead.
const ABANDON: Sql = Sql::pair(
    "UPDATE invocations SET status = 'failed', error = $1, ended_at = $2, reason = $3
     WHERE status = 'running' AND NOT EXISTS (SELECT 1 FROM agent_runs a WHERE a.id = invocations.id)",
    "UPDATE invocations SET status = 'failed', error = $1, ended_at = $2, reason = $3
     WHERE status = 'running' AND NOT EXISTS (SELECT 1 FROM agent_runs a WHERE a.id = invocations.id)
        AND NOT EXISTS (SELECT 1 FROM replicas p WHERE p.id = invocations.replica AND p.alive_until >= now_ms())",
);

const LIST: &str = "
    SELECT i.id, i.agent_id, i.status, i.output, i.error, i.reason, i.created_at, a.phase, a.questions
    FROM invocations i LEFT JOIN agent_runs a ON a.id = i.id
    WHERE i.owner = $1 ORDER BY i.created_at DESC, i.id DESC LIMIT $2";

const ONE: &str = "
    SELECT i.id, i.agent_id, i.status, i.output, i.error, i.reason, i.created_at, a.phase, a.questions
    FROM invocations i LEFT JOIN agent_runs a ON a.id = i.id WHERE i.owner = $1 AND i.id = $2";

/// The end of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishInvocation {
    /// The invocation's id.
    pub id: String,
    /// Any status but `running`.
    pub status: InvocationStatus,
    /// The output, with `succeeded`.
    pub output: Option<Value>,
    /// The error message for the caller, with the other statuses.
    pub error: Option<String>,
    /// Why it ended.
    pub reason: EndReason,
    /// Token usage, as JSON.
    pub usage: Value,
    /// Unix time, milliseconds.
    pub now: i64,
    /// The requests to models that it made.
    pub steps: Vec<StepRecord>,
}

impl Store {
    /// Records an invocation that begins now.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_invocation(&self, owner: &str, id: &str, agent_id: &str, now: i64) -> Result<(), StoreError> {
        let (owner, id, agent_id) = (owner.to_owned(), id.to_owned(), agent_id.to_owned());
        let own = self.replica_id();
        self.write(move |db| Box::pin(async move { insert(db, (&owner, &id, &agent_id), now, own).await })).await
    }

    /// Records the end of an invocation; one that has ended already stays unchanged.
    ///
    /// # Errors
    /// The database failed.
    pub async fn finish_invocation(&self, finish: FinishInvocation) -> Result<(), StoreError> {
        self.write(move |db| Box::pin(async move { self::finish(db, finish).await.map(drop) })).await
    }

    /// Ends all running invocations, of all owners, that no live server executes, and logs the tool calls that they
    /// were executing as interrupted. Returns how many. For recovery only, never for a request.
    ///
    /// # Errors
    /// The database failed.
    pub async fn abandon_invocations(&self, error: &'static str, now: i64) -> Result<u64, StoreError> {
        let abandon = sql::query(ABANDON).bind(error).bind(now).bind(EndReason::ServerGone.name());
        self.write(move |db| {
            Box::pin(async move {
                let abandoned = abandon.execute(&mut *db).await?.rows_affected();
                invocation_calls::interrupt_left(db, now).await?;
                Ok(abandoned)
            })
        })
        .await
    }

    /// Returns the owner's invocations, newest first, at most `limit` (and 100).
    ///
    /// # Errors
    /// The database failed.
    pub async fn invocations(&self, owner: &str, limit: u32) -> Result<Vec<Invocation>, StoreError> {
        self.rows(sql::query(LIST).bind(owner).bind(limit.min(MAX_ROWS)), invocation).await
    }

    /// Returns an invocation; `None` when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn invocation(&self, owner: &str, id: &str) -> Result<Option<Invocation>, StoreError> {
        self.optional_row(sql::query(ONE).bind(owner).bind(id), invocation).await
    }
}

/// Records an invocation that begins, and which server executes it.
pub(super) async fn insert(
    db: &mut Db,
    (owner, id, agent_id): (&str, &str, &str),
    now: i64,
    replica: Option<String>,
) -> Result<(), StoreError> {
    sql::query(INSERT).bind(id).bind(owner).bind(agent_id).bind(now).bind(replica).execute(db).await?;
    Ok(())
}

/// Records the end of an invocation. Returns whether it had not ended.
pub(super) async fn finish(db: &mut Db, finish: FinishInvocation) -> Result<bool, StoreError> {
    let end = sql::query(FINISH).bind(finish.id).bind(status_name(finish.status));
    let end = end.bind(finish.output.map(|output| output.to_string())).bind(finish.error);
    let end = end.bind(finish.usage.to_string()).bind(finish.now).bind(finish.reason.name());
    let has_ended = end.execute(&mut *db).await?.rows_affected() > 0;
    steps::append_steps(db, finish.steps).await?;
    Ok(has_ended)
}

fn invocation(row: &Row) -> Result<Invocation, StoreError> {
    let (phase, questions) = agent_runs::listed(row)?;
    let reason = row.try_get::<Option<&str>>("reason")?.map(EndReason::named);
    let output = row.try_get::<Option<&str>>("output")?.map(serde_json::from_str).transpose();
    Ok(Invocation {
        run_id: row.try_get("id")?,
        agent_name: row.try_get("agent_id")?,
        status: status(row.try_get("status")?, phase, reason),
        output: output.map_err(|error| StoreError::Failed(error.to_string()))?.unwrap_or_default(),
        error: row.try_get("error")?,
        reason,
        questions: serde_json::from_value(questions).unwrap_or_default(),
        created_at: row.try_get("created_at")?,
    })
}

fn status_name(status: InvocationStatus) -> &'static str {
    match status {
        InvocationStatus::Pending | InvocationStatus::Running | InvocationStatus::Waiting => "running",
        InvocationStatus::Succeeded => "succeeded",
        InvocationStatus::Failed | InvocationStatus::Stopped => "failed",
        InvocationStatus::Timeout => "timeout",
    }
}

/// Reads a status; the table has only four of them.
pub(crate) fn status(name: &str, phase: Option<AgentRunPhase>, reason: Option<EndReason>) -> InvocationStatus {
    match (name, phase) {
        ("running", Some(AgentRunPhase::Pending)) => InvocationStatus::Pending,
        ("running", Some(AgentRunPhase::Waiting)) => InvocationStatus::Waiting,
        ("running", _) => InvocationStatus::Running,
        ("succeeded", _) => InvocationStatus::Succeeded,
        ("timeout", _) => InvocationStatus::Timeout,
        _ if matches!(reason, Some(EndReason::StoppedByUser | EndReason::StoppedByAdmin)) => InvocationStatus::Stopped,
        _ => InvocationStatus::Failed,
    }
}
