//! Invocations that may wait for decisions, for callers who keep the state themselves and go on from there.

use crate::errors::Result;
use crate::outside::agent_runs::questions;
use crate::outside::execute::Executed;
use crate::outside::invoke::{CountedInvocation, Invoked};
use crate::record::telemetry::in_trace;
use crate::{Caller, Chat, errors, now};
use agent::{Checkpoint, Decision};
use tokio_util::sync::CancellationToken;
use wire::UserError;
use wire::invoke::{InvokeRequest, RunQuestion};

/// The result of a call whose question nobody answered.
const NOT_IN_TIME: &str = "Nobody answered in time.";

/// An invocation that may wait for decisions on calls.
#[derive(Clone, Debug)]
pub struct SuspendableRequest {
    /// The request. It stays the same when the invocation goes on.
    pub request: InvokeRequest,
    /// From which the idempotency keys of its calls are made: the same each time that this part is executed.
    pub key: String,
    /// The state from which it goes on, as JSON: that of [`SuspendedInvocation`], with the decisions.
    pub from: Option<String>,
    /// The workflows that led to it; see [`contract::RunScope::causes`].
    pub causes: Vec<String>,
}

/// The outcome of such an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendableInvocation {
    /// The invocation up to here, with what this part has used.
    pub counted: CountedInvocation,
    /// The calls and questions that it waits for; absent if it has ended.
    pub suspended: Option<SuspendedInvocation>,
}

/// An invocation that waits for decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendedInvocation {
    /// Its state, as JSON.
    pub state: String,
    /// The calls that wait for a decision.
    pub questions: Vec<RunQuestion>,
    /// The roles whose users decide, as the agent's config says; without any, the user for whom it runs.
    pub approvers: Vec<String>,
}

/// The state of a suspended invocation after a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedState {
    /// The state, as JSON.
    pub state: String,
    /// Whether other calls still wait for a decision.
    pub is_open: bool,
}

impl Chat {
    /// As [`Chat::invoke_counted`], but calls that need an approval wait for it. The caller keeps the state, asks somebody,
    /// and calls this again with the decisions.
    ///
    /// # Errors
    /// As [`Chat::invoke`].
    pub async fn invoke_suspendable(
        &self,
        caller: &Caller,
        request: SuspendableRequest,
        cancel: CancellationToken,
    ) -> Result<SuspendableInvocation, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let SuspendableRequest { request, key, from, causes } = request;
        let from = from.map(|state| read(&state)).transpose()?;
        let invoked = Invoked { request, key: Some(key), asks: true, from, causes };
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = in_trace(async move { inner.invoke(&caller, invoked, &cancel).await });
        Ok(self.inner.tasks.spawn(task).await.map_err(|_| errors::internal())??)
    }
}

/// Adds the decision on a call to the state of a suspended invocation. `None` if the call does not wait for one.
///
/// # Errors
/// The state is damaged.
pub fn decide_suspended(
    state: &str,
    call_id: &str,
    approved: bool,
    reason: Option<String>,
) -> Result<Option<DecidedState>, UserError> {
    let mut state = read(state)?;
    let decision = if approved { Decision::Approved } else { Decision::Denied(reason) };
    if state.decide(call_id, decision) {
        Ok(Some(DecidedState { is_open: !state.questions().is_empty(), state: write(&state)? }))
    } else {
        Ok(None)
    }
}

/// Denies the calls that wait, because nobody answered in time. Those whose ids are in `left` stay: their questions
/// have not expired.
///
/// # Errors
/// The state is damaged.
pub fn lapse_suspended(state: &str, left: &[String]) -> Result<DecidedState, UserError> {
    let mut state = read(state)?;
    for question in state.questions() {
        if !left.contains(&question.call_id) {
            state.decide(&question.call_id, Decision::Denied(Some(NOT_IN_TIME.to_owned())));
        }
    }
    Ok(DecidedState { is_open: !state.questions().is_empty(), state: write(&state)? })
}

/// Returns what an invocation that was executed waits for.
///
/// # Errors
/// The state to continue from, or the calls to decide on, are missing.
pub(super) fn suspended(executed: &mut Executed, approvers: Vec<String>) -> Result<SuspendedInvocation, UserError> {
    let lost = || {
        tracing::error!("an invocation waits, but its state or its questions are missing");
        errors::internal()
    };
    let state = executed.checkpoint.take().ok_or_else(lost)?;
    let questions = questions(&state, now());
    if questions.is_empty() {
        return Err(lost());
    }
    Ok(SuspendedInvocation { questions, state: write(&state)?, approvers })
}

fn read(state: &str) -> Result<Checkpoint, UserError> {
    serde_json::from_str(state).map_err(damaged)
}

fn write(state: &Checkpoint) -> Result<String, UserError> {
    serde_json::to_string(state).map_err(damaged)
}

fn damaged(error: serde_json::Error) -> UserError {
    tracing::error!(%error, "the state of a suspended invocation is damaged");
    errors::internal()
}
