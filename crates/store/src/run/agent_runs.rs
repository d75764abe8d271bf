//! Table `agent_runs`: runs without a conversation that outlive their request. The row of
//! `invocations` has their status; this one has from where they continue, until they end.

use crate::run::agent_run_approvers;
use crate::run::invocation_calls;
use crate::run::invocations::{self, FinishInvocation};
use crate::run::steps::{StepRecord, append_steps};
use crate::sql::{self, Db, Row};
use crate::{AuditEntry, Store, StoreError};
use serde_json::Value;

/// The most runs of a user that have not ended.
pub const MAX_OPEN_AGENT_RUNS: u32 = 1_000;

const COUNT: &str = "SELECT count(*) FROM agent_runs WHERE owner = $1";

const INSERT: &str = "
    INSERT INTO agent_runs (id, owner, phase, caller, request, state, questions, active_ms, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const ONE: &str = "
    SELECT a.owner, i.agent_id, a.phase, a.caller, a.request, a.state, a.questions, a.active_ms, i.created_at,
        i.stop_requested
    FROM agent_runs a JOIN invocations i ON i.id = a.id
    WHERE a.id = $1 AND i.status = 'running'";

const SET_PHASE: &str = "
    UPDATE agent_runs SET phase = $2, state = coalesce($3, state), questions = $4, active_ms = $5, updated_at = $6
    WHERE id = $1";

const SET_STATE: &str = "UPDATE agent_runs SET state = $2 WHERE id = $1";

const DELETE: &str = "DELETE FROM agent_runs WHERE id = $1";

const REQUEST_STOP: &str =
    "UPDATE invocations SET stop_requested = 1 WHERE owner = $1 AND id = $2 AND status = 'running'";

const IS_STOP_REQUESTED: &str = "SELECT stop_requested FROM invocations WHERE id = $1";

const WITHOUT_JOB: &str = "
    SELECT a.id, a.owner FROM agent_runs a
    WHERE a.phase IN ('pending', 'running') AND a.updated_at < $2 AND NOT EXISTS (
        SELECT 1 FROM jobs j WHERE j.kind = $1 AND j.unique_key = a.id AND j.state IN ('waiting', 'running'))
    ORDER BY a.updated_at LIMIT 200";

/// How far a run is that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRunPhase {
    /// A job is going to execute it.
    Pending,
    /// It is executed, or was when its server died.
    Running,
    /// It waits for an answer.
    Waiting,
}

/// A run that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRun {
    /// Its id.
    pub id: String,
    /// The user for whom it runs.
    pub owner: String,
    /// The agent.
    pub agent_id: String,
    /// How far it is.
    pub phase: AgentRunPhase,
    /// As whom, as JSON.
    pub caller: String,
    /// The request, as JSON.
    pub request: String,
    /// From where it continues, as JSON; none before the first tool call.
    pub state: Option<String>,
    /// The questions that wait for an answer, as JSON.
    pub questions: Option<String>,
    /// For how long it has run, in milliseconds.
    pub active_ms: i64,
    /// When it was requested; Unix time, milliseconds.
    pub created_at: i64,
    /// Whether it is to stop.
    pub is_stop_requested: bool,
    /// The roles whose users decide on its calls, each once; its owner does if there are none.
    pub approvers: Vec<String>,
}

/// A change of a run's phase. The state stays as it is if there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRunChange {
    /// The phase.
    pub phase: AgentRunPhase,
    /// From where it continues, as JSON.
    pub state: Option<String>,
    /// The questions that wait for an answer, as JSON.
    pub questions: Option<String>,
    /// For how long it has run, in milliseconds.
    pub active_ms: i64,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// The progress of a run since it was last recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InvocationProgress {
    /// The call that is about to run.
    pub started: Option<AuditEntry>,
    /// The calls that have ended.
    pub ended: Vec<AuditEntry>,
    /// From where an [`AgentRun`] continues, as JSON.
    pub state: Option<String>,
    /// The requests to models.
    pub steps: Vec<StepRecord>,
}

impl AgentRunPhase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
        }
    }

    /// Parses a phase; the table allows only these three.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "pending" => Self::Pending,
            "waiting" => Self::Waiting,
            _ => Self::Running,
        }
    }
}

/// Adds a run whose invocation exists already. Returns false, and adds nothing, if its owner has too
/// many that have not ended.
///
/// # Errors
/// The database failed.
pub async fn insert_agent_run(db: &mut Db, run: &AgentRun) -> Result<bool, StoreError> {
    let open: i64 = sql::query_scalar(COUNT).bind(&run.owner).fetch_one(&mut *db).await?;
    if open >= i64::from(MAX_OPEN_AGENT_RUNS) {
        return Ok(false);
    }
    let insert = sql::query(INSERT).bind(&run.id).bind(&run.owner).bind(run.phase.name()).bind(&run.caller);
    let insert = insert.bind(&run.request).bind(&run.state).bind(&run.questions).bind(run.active_ms);
    insert.bind(run.created_at).execute(&mut *db).await?;
    agent_run_approvers::insert(db, &run.id, &run.approvers).await?;
    Ok(true)
}

/// Adds a run with its invocation; see [`insert_agent_run`].
///
/// # Errors
/// The database failed.
pub async fn begin_agent_run(db: &mut Db, run: &AgentRun) -> Result<bool, StoreError> {
    invocations::insert(db, (&run.owner, &run.id, &run.agent_id), run.created_at, None).await?;
    insert_agent_run(db, run).await
}

/// Returns a run that has not ended, whoever owns it.
///
/// # Errors
/// The database failed.
pub async fn agent_run(db: &mut Db, id: &str) -> Result<Option<AgentRun>, StoreError> {
    let Some(row) = sql::query(ONE).bind(id).fetch_optional(&mut *db).await? else { return Ok(None) };
    let run = read(id, &row)?;
    Ok(Some(AgentRun { approvers: agent_run_approvers::roles(db, id).await?, ..run }))
}

fn read(id: &str, row: &Row) -> Result<AgentRun, StoreError> {
    Ok(AgentRun {
        id: id.to_owned(),
        owner: row.try_get("owner")?,
        agent_id: row.try_get("agent_id")?,
        phase: AgentRunPhase::named(row.try_get("phase")?),
        caller: row.try_get("caller")?,
        request: row.try_get("request")?,
        state: row.try_get("state")?,
        questions: row.try_get("questions")?,
        active_ms: row.try_get("active_ms")?,
        created_at: row.try_get("created_at")?,
        is_stop_requested: row.try_get::<i64>("stop_requested")? != 0,
        approvers: Vec::new(),
    })
}

/// Changes the phase of a run. Returns false if it has ended.
///
/// # Errors
/// The database failed.
pub async fn change_agent_run(db: &mut Db, id: &str, change: AgentRunChange) -> Result<bool, StoreError> {
    let AgentRunChange { phase, state, questions, active_ms, now } = change;
    let set = sql::query(SET_PHASE).bind(id).bind(phase.name()).bind(state).bind(questions).bind(active_ms).bind(now);
    Ok(set.execute(db).await?.rows_affected() > 0)
}

/// Records what a run has done, in a transaction.
///
/// # Errors
/// The database failed.
pub async fn record_progress(db: &mut Db, id: &str, progress: InvocationProgress) -> Result<(), StoreError> {
    let InvocationProgress { started, ended, state, steps } = progress;
    if let Some(call) = started {
        invocation_calls::start(db, call).await?;
    }
    invocation_calls::end(db, ended).await?;
    append_steps(db, steps).await?;
    if let Some(state) = state {
        sql::query(SET_STATE).bind(id).bind(state).execute(db).await?;
    }
    Ok(())
}

/// Logs the calls that a dead server was executing for a run as interrupted.
///
/// # Errors
/// The database failed.
pub async fn interrupt_agent_run(db: &mut Db, id: &str, now: i64) -> Result<(), StoreError> {
    invocation_calls::interrupt(db, id, now).await
}

/// Ends a run; one that has ended already stays unchanged. Returns whether it had not.
///
/// # Errors
/// The database failed.
pub async fn finish_agent_run(db: &mut Db, finish: FinishInvocation) -> Result<bool, StoreError> {
    let id = finish.id.clone();
    let has_ended = invocations::finish(db, finish).await?;
    sql::query(DELETE).bind(id).execute(db).await?;
    Ok(has_ended)
}

/// Asks a run of a user to stop. Returns false if it has ended, or is another user's.
///
/// # Errors
/// The database failed.
pub async fn request_invocation_stop(db: &mut Db, owner: &str, id: &str) -> Result<bool, StoreError> {
    Ok(sql::query(REQUEST_STOP).bind(owner).bind(id).execute(db).await?.rows_affected() > 0)
}

impl Store {
    /// Returns whether an invocation was asked to stop.
    ///
    /// # Errors
    /// The database failed.
    pub async fn is_invocation_stop_requested(&self, id: &str) -> Result<bool, StoreError> {
        let asked = sql::query_scalar::<i64>(IS_STOP_REQUESTED).bind(id.to_owned());
        self.read(move |db| {
            Box::pin(async move { Ok(asked.fetch_optional(db).await?.is_some_and(|asked| asked != 0)) })
        })
        .await
    }

    /// Returns the ids and owners of runs that no job of this kind executes, since a time before
    /// `before`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn agent_runs_without_job(&self, kind: &str, before: i64) -> Result<Vec<(String, String)>, StoreError> {
        let find = sql::query(WITHOUT_JOB).bind(kind.to_owned()).bind(before);
        let read = |row: &Row| Ok::<_, StoreError>((row.try_get("id")?, row.try_get("owner")?));
        self.rows(find, read).await
    }
}

/// Reads the phase and the questions of a listed invocation.
pub(super) fn listed(row: &Row) -> Result<(Option<AgentRunPhase>, Value), StoreError> {
    let phase = row.try_get::<Option<&str>>("phase")?.map(AgentRunPhase::named);
    let questions = row.try_get::<Option<&str>>("questions")?.map(serde_json::from_str).transpose();
    Ok((phase, questions.map_err(|error| StoreError::Failed(error.to_string()))?.unwrap_or_default()))
}
