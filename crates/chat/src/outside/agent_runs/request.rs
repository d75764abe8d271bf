//! The stored parts of a run: the user as whom it runs, the request, and its questions.

use crate::Caller;
use agent::Checkpoint;
use serde::{Deserialize, Serialize};
use store::{AgentRun, StoreError};
use wire::invoke::{InvokeRequest, RunQuestion};

/// How long a run waits for an answer whose request does not expire before, in milliseconds.
const MAX_WAIT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// The request, and whether its limits replace those of the agent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct StoredRequest {
    pub(super) request: InvokeRequest,
    #[serde(default)]
    pub(super) replaces_limits: bool,
}

/// As whom a run is executed. A token that was passed on is not stored.
#[derive(Deserialize, Serialize)]
struct StoredCaller {
    name: Option<String>,
    is_authenticated: bool,
    roles: Vec<String>,
}

/// Writes JSON.
///
/// # Errors
/// It cannot be written, which is a bug.
pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

fn from_json<'j, T: Deserialize<'j>>(json: &'j str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Failed(error.to_string()))
}

/// Writes as whom a run is executed.
pub(super) fn caller_json(caller: &Caller) -> Result<String, StoreError> {
    let roles = caller.roles().to_vec();
    to_json(&StoredCaller { name: caller.name.clone(), is_authenticated: caller.is_authenticated, roles })
}

/// Reads as whom a run is executed.
pub(super) fn caller_of(run: &AgentRun) -> Result<Caller, StoreError> {
    let StoredCaller { name, is_authenticated, roles } = from_json(&run.caller)?;
    Ok(Caller::new(&*run.owner, is_authenticated).with_name(name).with_roles(roles))
}

/// Reads the name of the user as whom a run is executed.
pub(super) fn caller_name(caller: &str) -> Option<String> {
    from_json::<StoredCaller>(caller).ok()?.name
}

/// Reads the request of a run.
pub(super) fn request_of(run: &AgentRun) -> Result<StoredRequest, StoreError> {
    from_json(&run.request)
}

/// Reads from where a run continues.
pub(super) fn state_of(run: &AgentRun) -> Result<Option<Checkpoint>, StoreError> {
    run.state.as_deref().map(from_json).transpose()
}

/// Reads the questions of a run.
pub(super) fn questions_of(run: &AgentRun) -> Result<Vec<RunQuestion>, StoreError> {
    Ok(run.questions.as_deref().map(from_json).transpose()?.unwrap_or_default())
}

/// Returns the questions of a state. Requests expire counted from `asked_at`, in Unix milliseconds.
pub(in crate::outside) fn questions(state: &Checkpoint, asked_at: i64) -> Vec<RunQuestion> {
    let question = |agent::RunQuestion { call_id, tool, input, terms }| RunQuestion {
        call_id,
        tool_name: tool,
        input,
        cut_off: terms.cut_off,
        expires_at: terms
            .expires_after
            .map(|after| asked_at.saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX))),
    };
    state.questions().into_iter().map(question).collect()
}

/// Returns when the first question lapses, for a run that was created then; Unix time in milliseconds.
pub(super) fn lapses_at(questions: &[RunQuestion], created_at: i64) -> i64 {
    let last = created_at.saturating_add(MAX_WAIT_MS);
    questions.iter().filter_map(|question| question.expires_at).min().map_or(last, |first| first.min(last))
}
