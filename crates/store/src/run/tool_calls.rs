//! Table `tool_calls`: the ledger of tool calls. A call is recorded before its tool runs and
//! completed after it, so that after a crash it is known which calls may have had an effect; no
//! call is recorded twice. A call that a page of the user executes is recorded when it is sent to
//! the page, and never completed here, because the page reports its result.

use crate::sql::{self, Db, Row};
use crate::{AuditEntry, GateDecision, Store, StoreError, audit};
use serde_json::Value;

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolOutcome {
    /// The tool returned a result.
    Ok,
    /// The tool returned an error.
    Error,
}

impl ToolOutcome {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

/// A tool call of a sub-agent. No message contains it.
#[derive(Clone, Debug, PartialEq)]
pub struct SubAgentCall {
    /// The call's id in the ledger.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// The agent that made it.
    pub agent_id: String,
    /// The decisions about the call before it ran.
    pub gates: Vec<GateDecision>,
}

/// A call that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct StartedCall<'a> {
    /// The call's id in the ledger.
    pub call_id: &'a str,
    /// How the call can be repeated if it is interrupted; `None` if it cannot.
    pub repeat: Option<CallRepeat<'a>>,
}

/// How an interrupted call can be repeated.
#[derive(Clone, Copy, Debug)]
pub struct CallRepeat<'a> {
    /// The current fingerprint of the tool.
    pub fingerprint: &'a str,
    /// Whether the call can be repeated without asking the user.
    pub is_idempotent: bool,
}

/// A call that is never repeated.
impl<'a> From<&'a str> for StartedCall<'a> {
    fn from(call_id: &'a str) -> Self {
        Self { call_id, repeat: None }
    }
}

/// A call that started, is not known to have ended, and could be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatableCall {
    /// The call's id in the ledger.
    pub call_id: String,
    /// The fingerprint of the tool when the call started.
    pub fingerprint: String,
    /// Whether the tool was idempotent when the call started.
    pub is_idempotent: bool,
}

/// The state of a call in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolCallState {
    /// Started and not known to have ended: it may or may not have had its effect.
    Started,
    /// Ended with this outcome.
    Finished(ToolOutcome),
}

/// Only an active run starts a call.
const START: &str = "
    INSERT INTO tool_calls
        (conversation_id, call_id, run, name, input, started_at, agent_id, gates, fingerprint, idempotent)
    SELECT r.conversation_id, $3, r.no, $4, $5, $6, $8, $9, $10, $11
    FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND r.id = $2 AND r.status = 'running' AND c.deleted_at IS NULL
        AND r.replica IS NOT DISTINCT FROM $7
    ON CONFLICT (conversation_id, call_id) DO NOTHING";

const RUN_STATUS: &str = "
    SELECT r.status, r.replica FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND r.id = $2 AND c.deleted_at IS NULL";

/// Also after the run ended, because the ledger must show that the tool has had its effect.
const FINISH: &str = "
    UPDATE tool_calls SET outcome = coalesce(outcome, $4), finished_at = coalesce(finished_at, $5)
    WHERE call_id = $3 AND (conversation_id, run) = (
        SELECT r.conversation_id, r.no FROM runs r JOIN conversations c ON c.id = r.conversation_id
        WHERE c.owner = $1 AND r.id = $2)";

const RUNNING_BELOW: &str = "
    SELECT t.call_id, t.name, t.input, t.agent_id, t.gates
    FROM tool_calls t JOIN runs r ON r.no = t.run JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND r.id = $2 AND t.outcome IS NULL AND t.agent_id IS NOT NULL
    ORDER BY t.started_at, t.call_id";

const CUT_OFF: &str = "
    SELECT t.call_id, t.fingerprint, t.idempotent
    FROM tool_calls t JOIN runs r ON r.no = t.run JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND r.id = $2 AND t.outcome IS NULL AND t.fingerprint IS NOT NULL
    ORDER BY t.started_at, t.call_id";

const STATE: &str = "
    SELECT t.outcome FROM tool_calls t JOIN conversations c ON c.id = t.conversation_id
    WHERE c.owner = $1 AND t.conversation_id = $2 AND t.call_id = $3";

impl Store {
    /// Records a call before its tool runs; the tool must not run unless this succeeds.
    ///
    /// # Errors
    /// [`StoreError::AlreadyStarted`] when the conversation's ledger has this call, [`StoreError::Fenced`] when the run
    /// ended, [`StoreError::NotFound`] for an unknown run or one of another user.
    pub async fn tool_started<'a>(
        &self,
        owner: &str,
        run_id: &str,
        call: impl Into<StartedCall<'a>>,
        name: &str,
        input: &Value,
        now: i64,
    ) -> Result<(), StoreError> {
        let StartedCall { call_id, repeat } = call.into();
        let entry = Entry { call_id, name, input, sub_agent: None, repeat };
        self.enter_call((owner, run_id), entry, now).await
    }

    /// Records a call of a sub-agent before its tool runs.
    ///
    /// # Errors
    /// As [`Store::tool_started`].
    pub async fn sub_agent_tool_started(
        &self,
        owner: &str,
        run_id: &str,
        call: &SubAgentCall,
        now: i64,
    ) -> Result<(), StoreError> {
        let SubAgentCall { call_id, name, input, agent_id, gates } = call;
        let gates = serde_json::to_string(gates)
            .map_err(|error| StoreError::Failed(format!("the decisions about a call cannot be encoded: {error}")))?;
        let entry = Entry { call_id, name, input, sub_agent: Some((agent_id, gates)), repeat: None };
        self.enter_call((owner, run_id), entry, now).await
    }

    async fn enter_call(&self, (owner, run_id): (&str, &str), call: Entry<'_>, now: i64) -> Result<(), StoreError> {
        let (owner, run_id) = (owner.to_owned(), run_id.to_owned());
        let Entry { call_id, name, input, sub_agent: below, repeat } = call;
        let (call_id, name, input) = (call_id.to_owned(), name.to_owned(), input.to_string());
        let (agent_id, gates) = below.map(|(agent_id, gates)| (agent_id.to_owned(), gates)).unzip();
        let fingerprint = repeat.map(|repeat| repeat.fingerprint.to_owned());
        let idempotent = i64::from(repeat.is_some_and(|repeat| repeat.is_idempotent));
        let own = self.replica_id();
        self.write(move |db| {
            Box::pin(async move {
                let start = sql::query(START).bind(&owner).bind(&run_id).bind(call_id).bind(name);
                let start = start.bind(input).bind(now).bind(&own).bind(agent_id).bind(gates);
                let start = start.bind(fingerprint).bind(idempotent);
                let done = start.execute(&mut *db).await?;
                if done.rows_affected() > 0 { Ok(()) } else { Err(start_error(db, owner, run_id, own).await?) }
            })
        })
        .await
    }

    /// Completes a call after its tool ran. Idempotent. Writes the call's audit row in the same
    /// transaction, also if the conversation was deleted in between, because the tool has run.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when this run of this owner has not started the call.
    pub async fn tool_finished(
        &self,
        owner: &str,
        run_id: &str,
        call_id: &str,
        outcome: ToolOutcome,
        now: i64,
        entry: Option<AuditEntry>,
    ) -> Result<(), StoreError> {
        let (owner, run_id, call_id) = (owner.to_owned(), run_id.to_owned(), call_id.to_owned());
        // An error inside the transaction would roll back the audit row.
        let found = self.write(move |db| {
            Box::pin(async move {
                let finish = sql::query(FINISH).bind(owner).bind(run_id).bind(call_id).bind(outcome.name());
                let done = finish.bind(now).execute(&mut *db).await?;
                audit::append_audit(db, entry.into_iter().collect()).await?;
                Ok(done.rows_affected() > 0)
            })
        });
        if found.await? { Ok(()) } else { Err(StoreError::NotFound) }
    }

    /// Returns the calls of sub-agents that a run has started and that are not known to have ended, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn running_sub_agent_calls(&self, owner: &str, run_id: &str) -> Result<Vec<SubAgentCall>, StoreError> {
        self.rows(sql::query(RUNNING_BELOW).bind(owner).bind(run_id), sub_agent_call).await
    }

    /// Returns the calls of a run's own agent that started, are not known to have ended, and could
    /// be repeated; oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn repeatable_calls(&self, owner: &str, run_id: &str) -> Result<Vec<RepeatableCall>, StoreError> {
        let call = |row: &Row| {
            Ok(RepeatableCall {
                call_id: row.try_get("call_id")?,
                fingerprint: row.try_get("fingerprint")?,
                is_idempotent: row.try_get::<i64>("idempotent")? != 0,
            })
        };
        self.rows(sql::query(CUT_OFF).bind(owner).bind(run_id), call).await
    }

    /// Returns the state of a call; `None` when it was not started, or the conversation belongs to another user.
    /// `call_id` is the id in the ledger, not the id that the model has given the call: the chat prefixes that with the
    /// message's id, as `{message}:{call}`, and appends `:{run}` if the run resumes or repeats the call.
    ///
    /// # Errors
    /// The database failed.
    pub async fn tool_call_state(
        &self,
        owner: &str,
        conversation_id: &str,
        call_id: &str,
    ) -> Result<Option<ToolCallState>, StoreError> {
        let state = |row: &Row| {
            Ok(match row.try_get::<Option<&str>>("outcome")? {
                None => ToolCallState::Started,
                Some("ok") => ToolCallState::Finished(ToolOutcome::Ok),
                Some(_) => ToolCallState::Finished(ToolOutcome::Error),
            })
        };
        self.optional_row(sql::query(STATE).bind(owner).bind(conversation_id).bind(call_id), state).await
    }
}

/// A call to record.
struct Entry<'a> {
    call_id: &'a str,
    name: &'a str,
    input: &'a Value,
    /// For a call of a sub-agent: the sub-agent's id, and the gate decisions as JSON.
    sub_agent: Option<(&'a str, String)>,
    repeat: Option<CallRepeat<'a>>,
}

/// Reads a row. Fields that are damaged are left empty, because the run must be closed anyway.
fn sub_agent_call(row: &Row) -> Result<SubAgentCall, StoreError> {
    Ok(SubAgentCall {
        call_id: row.try_get("call_id")?,
        name: row.try_get("name")?,
        input: serde_json::from_str(row.try_get("input")?).unwrap_or_default(),
        agent_id: row.try_get("agent_id")?,
        gates: serde_json::from_str(row.try_get("gates")?).unwrap_or_default(),
    })
}

/// Returns the reason why a call could not be recorded.
async fn start_error(
    db: &mut Db,
    owner: String,
    run_id: String,
    own: Option<String>,
) -> Result<StoreError, StoreError> {
    let find = sql::query(RUN_STATUS).bind(owner).bind(run_id);
    let Some(run) = find.fetch_optional(db).await? else { return Ok(StoreError::NotFound) };
    let is_driven = run.try_get::<&str>("status")? == "running" && run.try_get::<Option<String>>("replica")? == own;
    Ok(if is_driven { StoreError::AlreadyStarted } else { StoreError::Fenced })
}
