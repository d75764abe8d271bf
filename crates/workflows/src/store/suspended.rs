//! The agents of steps whose calls wait for decisions, in `workflow_steps`.

use super::Used;
use ::store::sql::{self, Db};
use ::store::{Store, StoreError};

/// An agent that continues after decisions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResumedStep {
    /// Its state with the decisions, as JSON.
    pub(crate) state: String,
    /// How often it has waited.
    pub(crate) suspensions: i64,
    /// The usage so far.
    pub(crate) used: Used,
}

const FIND: &str = "
    SELECT suspended, suspensions, requests, total_tokens, tool_calls, cost_usd, unpriced FROM workflow_steps
    WHERE run_id = $1 AND path = $2 AND suspended IS NOT NULL";

const STATE: &str = "SELECT suspended FROM workflow_steps WHERE run_id = $1 AND path = $2 AND state = 'waiting'";

const SUSPEND: &str = "
    UPDATE workflow_steps SET suspended = $3, suspensions = suspensions + 1 WHERE run_id = $1 AND path = $2";

const SET: &str = "UPDATE workflow_steps SET suspended = $3 WHERE run_id = $1 AND path = $2";

const FORGET: &str = "
    UPDATE workflow_steps SET suspended = NULL, suspensions = 0
    WHERE run_id = $1 AND path = $2 AND suspended IS NOT NULL";

/// Returns the state from which the agent of a step continues; `None` if it begins.
pub(crate) async fn resumed_step(store: &Store, run_id: &str, path: &str) -> Result<Option<ResumedStep>, StoreError> {
    let find = sql::query(FIND).bind(run_id.to_owned()).bind(path.to_owned());
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(ResumedStep {
        state: row.try_get("suspended")?,
        suspensions: row.try_get("suspensions")?,
        used: Used::read(&row)?,
    }))
}

/// Returns the state of the agent of a step that waits.
pub(crate) async fn suspended_state(db: &mut Db, run_id: &str, path: &str) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<Option<String>>(STATE).bind(run_id).bind(path);
    Ok(find.fetch_optional(db).await?.flatten())
}

/// Stores that the agent of a step waits, with its state.
pub(crate) async fn suspend(db: &mut Db, run_id: &str, path: &str, state: &str) -> Result<(), StoreError> {
    sql::query(SUSPEND).bind(run_id).bind(path).bind(state).execute(db).await?;
    Ok(())
}

/// Stores the state after a decision.
pub(crate) async fn set_suspended(db: &mut Db, run_id: &str, path: &str, state: &str) -> Result<(), StoreError> {
    sql::query(SET).bind(run_id).bind(path).bind(state).execute(db).await?;
    Ok(())
}

/// Lets the agent of a step begin again.
pub(crate) async fn forget_suspended(db: &mut Db, run_id: &str, path: &str) -> Result<(), StoreError> {
    sql::query(FORGET).bind(run_id).bind(path).execute(db).await?;
    Ok(())
}
