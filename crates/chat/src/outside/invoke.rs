//! Invocations: a program sends one prompt to an agent and gets one answer, which is stored and
//! listed, outside of conversations.

use crate::record::steps;
use crate::record::telemetry::{self, Recorder, RunFacts};
use crate::run::ending;
use crate::{Caller, Inner, errors, now};
use agent::{AnswerForm, InvocationRequest, InvokeError, SchemaError};
use contract::{ModelUse, ResponseFormat, RunScope};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use store::FinishInvocation;
use tokio_util::sync::CancellationToken;
use wire::invoke::{AgentTier, Invocation, InvocationStatus, InvokeRequest, ResponseSchema};
use wire::{EndReason, ErrorCode, ErrorReason, UserError};

/// The maximum length of a prompt in characters.
const MAX_PROMPT: usize = 1_000_000;
/// The maximum number of concurrent invocations in this process; further ones are refused with 503.
const MAX_AT_ONCE: usize = 64;
/// The error of an invocation that a dead server left open.
pub(crate) const ABANDONED: &str = "The server stopped before the answer was complete.";

/// The running invocations by id. Ids start with the time, so the last is the newest.
#[derive(Default)]
pub(crate) struct Invocations(Mutex<BTreeMap<String, Running>>);

/// A running invocation.
struct Running {
    cancel: CancellationToken,
    /// Whether it was ended because memory was almost used up.
    ended: bool,
}

/// The permit of a running invocation.
struct InvocationPermit<'a> {
    all: &'a Invocations,
    id: String,
}

impl Invocations {
    fn acquire(&self, id: &str, cancel: CancellationToken) -> Option<InvocationPermit<'_>> {
        let mut running = self.0.lock();
        if running.len() >= MAX_AT_ONCE {
            return None;
        }
        running.insert(id.to_owned(), Running { cancel, ended: false });
        Some(InvocationPermit { all: self, id: id.to_owned() })
    }

    pub(crate) fn is_any_running(&self) -> bool {
        !self.0.lock().is_empty()
    }

    /// Ends the newest invocation because memory is almost used up; returns its id.
    pub(crate) fn end_newest(&self) -> Option<String> {
        let mut running = self.0.lock();
        let (id, newest) = running.iter_mut().rfind(|(_, one)| !one.cancel.is_cancelled())?;
        newest.ended = true;
        newest.cancel.cancel();
        Some(id.clone())
    }
}

impl InvocationPermit<'_> {
    /// Returns whether the invocation was ended because memory was almost used up.
    fn is_ended(&self) -> bool {
        self.all.0.lock().get(&self.id).is_some_and(|one| one.ended)
    }
}

impl Drop for InvocationPermit<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.id);
    }
}

impl Inner {
    pub(crate) async fn invoke(&self, caller: &Caller, request: InvokeRequest) -> Result<Invocation, UserError> {
        check(&request)?;
        let agent = self.agents.by_id(caller, &request.agent_name).await?;
        self.check_quotas(caller, true, agent.unpriced_model()).await?;
        self.memory.admit(self.is_answering())?;
        let (id, cancel) = (uuid::Uuid::now_v7().simple().to_string(), self.stopping.child_token());
        let place = self.invocations.acquire(&id, cancel.clone()).ok_or_else(capacity_error)?;
        // Checked before anything is stored: an unusable schema is a bad request.
        let form = match request.response_schema {
            Some(schema) => Some(AnswerForm::new(format(schema)).await.map_err(refused)?),
            None => None,
        };
        let created_at = now();
        let begun = self.store.begin_invocation(&caller.user_id, &id, &request.agent_name, created_at).await;
        begun.map_err(errors::store_error)?;
        let facts = RunFacts {
            run_id: id.clone(),
            conversation_id: None,
            agent_id: request.agent_name.clone(),
            trace: telemetry::current_trace(),
        };
        let recorder = Recorder::begin(self.telemetry.get().cloned(), facts);
        let question = InvocationRequest {
            prompt: request.input.prompt,
            form,
            time: time_limit(request.agent_tier),
            scope: RunScope { user_id: caller.user_id.clone(), token: caller.bearer.clone(), ..RunScope::default() },
            // Usage is recorded below, with the answer.
            models: ModelUse::default(),
            cancel,
        };
        let answer = agent::invoke(&agent, question).await;
        let steps = answer.replies.into_iter();
        let steps =
            steps.map(|replied| steps::outside_conversation(&caller.user_id, &id, &request.agent_name, replied));
        let steps: Vec<_> = steps.inspect(|step| recorder.replied(step)).collect();
        let is_ended = place.is_ended() && matches!(answer.output, Err(InvokeError::Stopped));
        let reason = match answer.output.as_ref().err() {
            Some(_) if is_ended => EndReason::Memory,
            error => error.map_or(EndReason::Done, ending::invocation_reason),
        };
        log_end(&id, &request.agent_name, reason, answer.output.as_ref().err());
        let (status, output, mut error) = response(answer.output);
        if is_ended {
            error = Some(errors::ended_for_memory().message);
        }
        recorder.ended_as(outcome(status), reason);
        let finish = FinishInvocation {
            id: id.clone(),
            status,
            output: output.clone(),
            error: error.clone(),
            reason,
            usage: serde_json::to_value(answer.usage).unwrap_or_default(),
            now: now(),
            steps,
        };
        self.store.finish_invocation(finish).await.map_err(errors::store_error)?;
        let output = output.unwrap_or_default();
        let (agent_name, reason) = (request.agent_name, Some(reason));
        Ok(Invocation { run_id: id, agent_name, status, output, error, reason, created_at })
    }
}

fn check(request: &InvokeRequest) -> Result<(), UserError> {
    if request.input.prompt.trim().is_empty() {
        return Err(UserError::invalid("/input/prompt", "The prompt is empty."));
    }
    if request.input.prompt.chars().count() > MAX_PROMPT {
        let message = format!("The prompt is longer than {MAX_PROMPT} characters.");
        return Err(UserError {
            path: Some("/input/prompt".to_owned()),
            ..UserError::new(ErrorCode::TooLarge, message)
        });
    }
    let name = request.response_schema.as_ref().map_or("answer", |schema| &schema.name);
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if name.is_empty() || name.len() > 64 || !is_name(name) {
        let message = "Use up to 64 letters, digits, `_` and `-`.";
        return Err(UserError::invalid("/response_schema/name", message));
    }
    Ok(())
}

fn format(ResponseSchema { name, strict, schema }: ResponseSchema) -> ResponseFormat {
    ResponseFormat { name, strict, schema }
}

/// Returns the error for an unusable schema.
fn refused(error: SchemaError) -> UserError {
    const PATH: &str = "/response_schema/schema";
    match error {
        SchemaError::Busy => capacity_error(),
        SchemaError::Invalid { path, message, .. } => {
            UserError::invalid(format!("{PATH}{path}"), format!("This is not a JSON Schema: {message}."))
        }
        SchemaError::Refused(reason) => UserError::invalid(PATH, format!("This schema cannot be used: {reason}.")),
    }
}

fn time_limit(tier: AgentTier) -> Duration {
    Duration::from_secs(match tier {
        AgentTier::Simple => 30,
        AgentTier::Complex => 5 * 60,
        AgentTier::Batch => 30 * 60,
    })
}

fn capacity_error() -> UserError {
    let message = "Too many invocations are running. Try again in a moment.";
    let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
    UserError { retry_after: Some(5), ..error }
}

/// Returns the outcome in the terms of a run.
fn outcome(status: InvocationStatus) -> &'static str {
    match status {
        InvocationStatus::Succeeded => "done",
        InvocationStatus::Timeout => "timeout",
        InvocationStatus::Running | InvocationStatus::Failed => "failed",
    }
}

fn log_end(id: &str, agent: &str, reason: EndReason, error: Option<&InvokeError>) {
    let reason = reason.name();
    match error {
        // The error quotes the model's answer, which must not be logged.
        Some(InvokeError::SchemaMismatch(_)) => {
            tracing::warn!(invocation = id, agent, reason, "an invocation's answer does not fit its schema");
        }
        Some(error) => tracing::warn!(invocation = id, agent, reason, cause = %error, "an invocation failed"),
        None => tracing::info!(invocation = id, agent, reason, "an invocation ended"),
    }
}

/// Returns the status, output and error message of an invocation. The cause of a failure is logged.
fn response(output: Result<Value, InvokeError>) -> (InvocationStatus, Option<Value>, Option<String>) {
    let error = match output {
        Ok(output) => return (InvocationStatus::Succeeded, Some(output), None),
        Err(error) => error,
    };
    let status =
        if matches!(error, InvokeError::TimedOut) { InvocationStatus::Timeout } else { InvocationStatus::Failed };
    let text = match &error {
        InvokeError::Model(error) => errors::model_error(error).message,
        InvokeError::TimedOut => "There was no answer within the time limit of this tier.".to_owned(),
        InvokeError::Stopped => ABANDONED.to_owned(),
        InvokeError::UnknownPrice(model) => errors::unknown_price(model).message,
        InvokeError::Limit(_) => "The agent reached its limit before it had an answer.".to_owned(),
        InvokeError::SchemaMismatch(_) | InvokeError::Unchecked(_) | InvokeError::NotAdmitted(_) => error.to_string(),
    };
    (status, None, Some(text))
}
