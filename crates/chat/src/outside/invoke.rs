//! Invocations: a program sends one prompt to an agent and gets one answer, which is stored and
//! listed, outside of conversations.

use crate::errors::Result;
use crate::outside::call_record::CallRecord;
use crate::outside::{invocation_hooks, invoke_request};
use crate::record::audit::RunContext;
use crate::record::steps;
use crate::record::telemetry::{self, Recorder, RunFacts, in_trace};
use crate::run::ending;
use crate::{Caller, Chat, Inner, errors, now};
use agent::{InvocationReply, InvocationRequest, InvokeError};
use contract::{ModelUse, RunScope};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use store::{FinishInvocation, StepRecord};
use tokio_util::sync::CancellationToken;
use wire::invoke::{Invocation, InvocationList, InvocationStatus, InvokeRequest};
use wire::{EndReason, UserError};

/// The maximum number of concurrent invocations in this process; further ones are refused with 503.
const MAX_AT_ONCE: usize = 64;
/// The error of an invocation that a dead server left open.
pub(crate) const ABANDONED: &str = "The server stopped before the answer was complete.";

/// An invocation that has ended, with what it has used.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedInvocation {
    /// The invocation.
    pub invocation: Invocation,
    /// What it has used.
    pub usage: InvocationUsage,
}

/// What an invocation has used. Sub-agents and routines count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvocationUsage {
    /// The requests to models that were answered.
    pub requests: u32,
    /// The tokens of all requests.
    pub total_tokens: u64,
    /// The tool calls that were started.
    pub tool_calls: u32,
    /// The cost in US dollars, of models whose price is known.
    pub cost_usd: f64,
}

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

impl Chat {
    /// Invokes an agent once, without tools unless the request names some, and stores the answer. A
    /// caller who disconnects finds it in the list.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 and 422 for an invalid request, 503 when
    /// full, short of memory or draining. A failure of the model is reported in the invocation.
    pub async fn invoke(&self, caller: &Caller, request: InvokeRequest) -> Result<Invocation, UserError> {
        Ok(self.invoke_counted(caller, request, CancellationToken::new()).await?.invocation)
    }

    /// As [`Chat::invoke`], until `cancel` is cancelled, with what the invocation has used.
    ///
    /// # Errors
    /// As [`Chat::invoke`].
    pub async fn invoke_counted(
        &self,
        caller: &Caller,
        request: InvokeRequest,
        cancel: CancellationToken,
    ) -> Result<CountedInvocation, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.invoke(&caller, request, &cancel).await }));
        Ok(task.await.map_err(|_| errors::internal())??)
    }

    /// Returns the caller's invocations, newest first, at most `limit` (1 to 100).
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList, UserError> {
        Ok(self.inner.invocations(caller, limit).await?)
    }

    /// Returns one invocation.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation, UserError> {
        Ok(self.inner.invocation(caller, id).await?)
    }
}

impl Inner {
    /// See [`Chat::invocations`].
    async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList> {
        Ok(InvocationList { items: self.store.invocations(&caller.user_id, limit.max(1)).await? })
    }

    /// See [`Chat::invocation`].
    async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation> {
        Ok(self.store.invocation(&caller.user_id, id).await?.ok_or_else(UserError::not_found)?)
    }

    /// See [`Chat::invoke`].
    async fn invoke(
        &self,
        caller: &Caller,
        request: InvokeRequest,
        outside: &CancellationToken,
    ) -> Result<CountedInvocation> {
        invoke_request::check(&request)?;
        let agent = self.agents.by_id(caller, &request.agent_name).await?;
        invoke_request::check_tools(&request, &agent)?;
        self.check_quotas(caller, true, agent.unpriced_model()).await?;
        self.memory.admit(self.is_answering())?;
        let (id, cancel) = (uuid::Uuid::now_v7().simple().to_string(), self.stopping.child_token());
        let place = self.invocations.acquire(&id, cancel.clone()).ok_or_else(invoke_request::capacity_error)?;
        // Checked before anything is stored: an unusable schema is a bad request.
        let form = match request.response_schema {
            Some(schema) => Some(invoke_request::form(schema).await?),
            None => None,
        };
        let created_at = now();
        let begun = self.store.begin_invocation(&caller.user_id, &id, &request.agent_name, created_at).await;
        begun?;
        let facts = RunFacts {
            run_id: id.clone(),
            conversation_id: None,
            agent_id: request.agent_name.clone(),
            trace: telemetry::current_trace(),
        };
        let recorder = Recorder::begin(self.telemetry.get().cloned(), facts);
        let subject = RunContext {
            user_id: caller.user_id.clone(),
            agent_id: request.agent_name.clone(),
            conversation_id: String::new(),
            // Providers number calls anew in each reply; an entry is found by message and call.
            message_id: id.clone(),
            run_id: id.clone(),
        };
        let (prompt, tools) = (&request.input.prompt, &request.tools);
        let hooks = invocation_hooks::observer(&*self.agents, caller, &agent, &id, prompt, tools);
        let record = CallRecord::new(subject, cancel.clone(), recorder.clone(), self.store.clone(), hooks);
        let record = Arc::new(record);
        let scope = RunScope {
            user_id: caller.user_id.clone(),
            run_id: id.clone(),
            prompt: Some(request.input.prompt.as_str().into()),
            token: caller.bearer.clone(),
            ..RunScope::default()
        };
        let question = InvocationRequest {
            prompt: request.input.prompt,
            form,
            tools: invoke_request::tools(request.tools, request.approved_tools),
            observer: Some(record.clone()),
            limits: invoke_request::limits(&request.limits),
            time: invoke_request::time_limit(request.agent_tier, &self.agents.invocation_tiers()),
            scope,
            // Usage is recorded below, with the answer.
            models: ModelUse::default(),
            cancel: cancel.clone(),
        };
        let answer = {
            let mut asked = pin!(agent::invoke(&agent, question));
            tokio::select! {
                answer = &mut asked => answer,
                () = outside.cancelled() => {
                    cancel.cancel();
                    asked.await
                }
            }
        };
        let hooks = record.end().await.map(|hooks| (hooks, invocation_hooks::end(&id, &answer)));
        let cost_usd = answer.replies.iter().filter_map(|reply| reply.usage.cost_usd).sum();
        let steps = answer.replies.into_iter().map(|reply| step(&caller.user_id, &id, &request.agent_name, reply));
        let steps: Vec<_> = steps.inspect(|step| recorder.replied(step)).collect();
        let usage = InvocationUsage {
            requests: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            total_tokens: answer.usage.input_tokens.saturating_add(answer.usage.output_tokens),
            tool_calls: record.started(),
            cost_usd,
        };
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
        self.store.finish_invocation(finish).await?;
        if let Some((hooks, end)) = hooks {
            // There is no message that the hooks could add parts to.
            hooks.finish(end, cancel).await;
        }
        let output = output.unwrap_or_default();
        let (agent_name, reason) = (request.agent_name, Some(reason));
        let invocation = Invocation { run_id: id, agent_name, status, output, error, reason, created_at };
        Ok(CountedInvocation { invocation, usage })
    }
}

/// Builds the row of a request to a model; those below are of sub-agents and of routines.
fn step(owner: &str, id: &str, agent: &str, reply: InvocationReply) -> StepRecord {
    let (call_id, agent) = match reply.below {
        Some((call_id, agent)) => (Some(call_id), agent),
        None => (None, agent.to_owned()),
    };
    StepRecord { call_id, ..steps::outside_conversation(owner, id, &agent, reply.usage) }
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
        InvokeError::InvalidCall(_) => errors::invalid_call().message,
        InvokeError::NotRecorded => errors::not_saved().message,
        InvokeError::TooLong => error.to_string(),
        InvokeError::SchemaMismatch(_) | InvokeError::Unchecked(_) | InvokeError::NotAdmitted(_) => error.to_string(),
    };
    (status, None, Some(text))
}
