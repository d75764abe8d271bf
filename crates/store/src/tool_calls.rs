//! Table `tool_calls`: the ledger of effects. A call is entered before its tool runs and completed after it, so that
//! after a crash it is known which calls may have had an effect; no call is entered twice.

use crate::sql::{self, Db};
use crate::{AuditEntry, Store, StoreError, audit};
use serde_json::Value;

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolOutcome {
    /// With a result.
    Ok,
    /// With an error.
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

/// What the ledger says of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolCallState {
    /// Begun and not known to have ended: it may or may not have had its effect.
    Started,
    /// Ended.
    Finished(ToolOutcome),
}

/// Only an active run begins a call.
const START: &str = "
    INSERT INTO tool_calls (conversation_id, call_id, run, name, input, started_at)
    SELECT r.conversation_id, $3, r.no, $4, $5, $6
    FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND r.id = $2 AND r.status = 'running' AND c.deleted_at IS NULL
        AND r.replica IS NOT DISTINCT FROM $7
    ON CONFLICT (conversation_id, call_id) DO NOTHING";

const RUN_STATUS: &str = "
    SELECT r.status, r.replica FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND r.id = $2 AND c.deleted_at IS NULL";

/// Also after the run ended: that a tool has had its effect is worth knowing then, too.
const FINISH: &str = "
    UPDATE tool_calls SET outcome = coalesce(outcome, $4), finished_at = coalesce(finished_at, $5)
    WHERE call_id = $3 AND (conversation_id, run) = (
        SELECT r.conversation_id, r.no FROM runs r JOIN conversations c ON c.id = r.conversation_id
        WHERE c.owner = $1 AND r.id = $2)";

const STATE: &str = "
    SELECT t.outcome FROM tool_calls t JOIN conversations c ON c.id = t.conversation_id
    WHERE c.owner = $1 AND t.conversation_id = $2 AND t.call_id = $3";

impl Store {
    /// Enters a call before its tool runs; the tool must not run unless this succeeds.
    ///
    /// # Errors
    /// [`StoreError::AlreadyStarted`] when the conversation's ledger has this call, [`StoreError::Fenced`] when the run
    /// is over, [`StoreError::NotFound`] for an unknown run or someone else's.
    pub async fn tool_started(
        &self,
        owner: &str,
        run_id: &str,
        call_id: &str,
        name: &str,
        input: &Value,
        now: i64,
    ) -> Result<(), StoreError> {
        let (owner, run_id) = (owner.to_owned(), run_id.to_owned());
        let (call_id, name, input) = (call_id.to_owned(), name.to_owned(), input.to_string());
        let own = self.own_id();
        self.write(move |db| {
            Box::pin(async move {
                let start = sql::query(START).bind(&owner).bind(&run_id).bind(call_id).bind(name);
                let done = start.bind(input).bind(now).bind(&own).execute(&mut *db).await?;
                if done.rows_affected() > 0 { Ok(()) } else { Err(refusal(db, owner, run_id, own).await?) }
            })
        })
        .await
    }

    /// Completes a call after its tool ran. Completing it again changes nothing. Its audit row goes with it; also where the
    /// conversation was deleted in between, for the tool has run.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when this run of this owner has not begun the call.
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
        // An error within the transaction would take the audit row along.
        let found = self.write(move |db| {
            Box::pin(async move {
                let finish = sql::query(FINISH).bind(owner).bind(run_id).bind(call_id).bind(outcome.name());
                let done = finish.bind(now).execute(&mut *db).await?;
                audit::append(db, entry.into_iter().collect()).await?;
                Ok(done.rows_affected() > 0)
            })
        });
        if found.await? { Ok(()) } else { Err(StoreError::NotFound) }
    }

    /// What the ledger says of a call; none when it was not begun, or the conversation is someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn tool_call_state(
        &self,
        owner: &str,
        conversation_id: &str,
        call_id: &str,
    ) -> Result<Option<ToolCallState>, StoreError> {
        let (owner, conversation_id, call_id) = (owner.to_owned(), conversation_id.to_owned(), call_id.to_owned());
        self.read(move |db| {
            Box::pin(async move {
                let find = sql::query(STATE).bind(owner).bind(conversation_id).bind(call_id);
                let Some(row) = find.fetch_optional(db).await? else { return Ok(None) };
                Ok(Some(match row.try_get::<Option<&str>>("outcome")? {
                    None => ToolCallState::Started,
                    Some("ok") => ToolCallState::Finished(ToolOutcome::Ok),
                    Some(_) => ToolCallState::Finished(ToolOutcome::Error),
                }))
            })
        })
        .await
    }
}

/// Why a call could not be entered.
async fn refusal(db: &mut Db, owner: String, run_id: String, own: Option<String>) -> Result<StoreError, StoreError> {
    let find = sql::query(RUN_STATUS).bind(owner).bind(run_id);
    let Some(run) = find.fetch_optional(db).await? else { return Ok(StoreError::NotFound) };
    let is_driven = run.try_get::<&str>("status")? == "running" && run.try_get::<Option<String>>("replica")? == own;
    Ok(if is_driven { StoreError::AlreadyStarted } else { StoreError::Fenced })
}
