//! Executes an agent without a conversation: an invocation, or a run that may wait and be continued.

use crate::outside::call_record::{CallRecord, RunState};
use crate::outside::chunk_stream::ChunkStream;
use crate::outside::invoke::InvocationUsage;
use crate::outside::{invocation_hooks, invoke_request};
use crate::record::audit::RunContext;
use crate::record::steps;
use crate::record::telemetry::{self, Recorder, RunFacts};
use crate::run::ending;
use crate::run::hooks::{HookEnd, HookObserver};
use crate::{Caller, Inner, errors};
use agent::{
    Agent, AnswerForm, Checkpoint, InvocationInput, InvocationReply, InvocationRequest, InvokeError, RunSettings,
};
use contract::{ModelUse, RunScope, Tool, Usage};
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use store::{FinishInvocation, StepRecord, Store};
use tokio_util::sync::CancellationToken;
use wire::EndReason;
use wire::invoke::{Invocation, InvocationStatus, InvokeRequest};

/// How often a running agent looks whether another server was asked to stop it.
const STOP_INTERVAL: Duration = Duration::from_secs(1);

/// An execution of an agent.
pub(super) struct Execution {
    pub(super) id: String,
    pub(super) caller: Caller,
    pub(super) request: InvokeRequest,
    /// The messages that the agent answers; their end is the prompt of the request.
    pub(super) input: InvocationInput,
    /// The tools that the program runs itself.
    pub(super) program_tools: Vec<Arc<dyn Tool>>,
    pub(super) agent: Arc<Agent>,
    pub(super) form: Option<AnswerForm>,
    /// Whether the limits of the request replace those of the agent.
    pub(super) replaces_limits: bool,
    /// The time limit.
    pub(super) time: Duration,
    /// The most bytes of what it reads and writes.
    pub(super) max_bytes: u64,
    /// From where it continues.
    pub(super) from: Option<Checkpoint>,
    /// The scope's key, from which the idempotency keys of its calls are made. The same each time that it is
    /// executed; `None` if it is executed only once.
    pub(super) key: Option<String>,
    /// The workflows that led to it; see [`RunScope::causes`].
    pub(super) causes: Vec<String>,
    /// Where its state is kept, if it may wait for an answer.
    pub(super) state: Option<RunState>,
    /// Who follows it.
    pub(super) stream: Option<ChunkStream>,
    pub(super) cancel: CancellationToken,
}

/// The outcome of an execution.
pub(super) struct Executed {
    pub(super) result: Result<Value, InvokeError>,
    pub(super) usage: Usage,
    pub(super) counted: InvocationUsage,
    /// The requests to models that are not recorded yet.
    pub(super) steps: Vec<StepRecord>,
    pub(super) recorder: Recorder,
    pub(super) hooks: Option<(HookObserver, HookEnd)>,
    /// The state in which it waits.
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) stream: Option<ChunkStream>,
    /// Whether it was ended because it became larger than its tier allows.
    pub(super) is_too_large: bool,
    /// Whether it was asked to stop.
    pub(super) is_stopped: bool,
    /// The limit that was reached, with its value, for the operator.
    pub(super) bound: Option<String>,
}

/// How an execution ends, for its caller.
pub(super) struct ExecutionEnd {
    pub(super) status: InvocationStatus,
    pub(super) reason: EndReason,
    pub(super) output: Option<Value>,
    pub(super) error: Option<String>,
}

impl ExecutionEnd {
    /// Returns the run as its caller sees it.
    pub(super) fn invocation(self, run_id: String, agent_name: String, created_at: i64) -> Invocation {
        let Self { status, reason, output, error } = self;
        let (output, reason) = (output.unwrap_or_default(), Some(reason));
        Invocation { run_id, agent_name, status, output, error, reason, questions: Vec::new(), created_at }
    }
}

impl Inner {
    /// Executes an agent until it has an answer, waits, or fails.
    pub(super) async fn execute(&self, execution: Execution, outside: &CancellationToken) -> Executed {
        let Execution {
            id,
            caller,
            request,
            input,
            program_tools,
            agent,
            form,
            replaces_limits,
            time,
            max_bytes,
            from,
            key,
            causes,
            state,
            stream,
            cancel,
        } = execution;
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
        let hooks = invocation_hooks::observer(&*self.agents, &caller, &agent, &id, prompt, tools);
        let asks = state.is_some();
        let record = CallRecord::new(subject, cancel.clone(), recorder.clone(), self.store.clone(), hooks);
        let record = Arc::new(record.with(state, stream, max_bytes));
        let scope = RunScope {
            run_id: id.clone(),
            prompt: Some(request.input.prompt.as_str().into()),
            call_counts: key.is_some().then(Arc::default),
            key: key.unwrap_or_else(|| id.clone()),
            causes,
            ..caller.scope()
        };
        let question = InvocationRequest {
            input,
            form,
            tools: invoke_request::tools(request.tools, request.approved_tools, program_tools),
            observer: Some(record.clone()),
            limits: invoke_request::limits(&request.limits),
            replaces_limits,
            asks,
            from,
            time,
            scope,
            // Usage is recorded with the answer, or with the state.
            models: ModelUse::default(),
            cancel: cancel.clone(),
        };
        let mut is_stopped = false;
        let limits = question.limits_for(&agent);
        let answer = {
            let mut asked = pin!(agent::invoke(&agent, question));
            let mut stop = pin!(stop_requested(&self.store, &id));
            loop {
                tokio::select! {
                    answer = &mut asked => break answer,
                    () = outside.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                    () = &mut stop, if !is_stopped => {
                        is_stopped = true;
                        cancel.cancel();
                    }
                }
            }
        };
        let hooks = record.end().await.map(|hooks| (hooks, invocation_hooks::end(&id, &answer)));
        let cost_usd = answer.replies.iter().filter_map(|reply| reply.usage.cost_usd).sum();
        let unpriced = answer.replies.iter().filter(|reply| reply.usage.cost_usd.is_none()).count();
        let steps = answer.replies.into_iter().map(|reply| step(&caller.user_id, &id, &request.agent_name, reply));
        let mut steps: Vec<_> = steps.inspect(|step| recorder.replied(step)).collect();
        let counted = InvocationUsage {
            requests: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            total_tokens: answer.usage.input_tokens.saturating_add(answer.usage.output_tokens),
            tool_calls: record.started(),
            cost_usd,
            unpriced: u32::try_from(unpriced).unwrap_or(u32::MAX),
        };
        if record.stores_steps() {
            steps.clear();
        }
        let bound = match &answer.output {
            Err(InvokeError::Limit(limit) | InvokeError::Incomplete { limit, .. }) => {
                ending::bound(*limit, &RunSettings { limits, ..agent.settings.clone() })
            }
            _ => None,
        };
        let mut checkpoint = record.take_checkpoint();
        if let (Some(state), Err(InvokeError::Waiting(spent))) = (&mut checkpoint, &answer.output) {
            state.set_usage((**spent).clone());
        }
        Executed {
            result: answer.output,
            usage: answer.usage,
            counted,
            steps,
            recorder,
            hooks,
            checkpoint,
            stream: record.take_stream(),
            is_too_large: record.is_too_large(),
            is_stopped,
            bound,
        }
    }
}

/// Waits until a run was asked to stop.
async fn stop_requested(store: &Store, id: &str) {
    loop {
        tokio::time::sleep(STOP_INTERVAL).await;
        // An error is like no answer: the next look is soon.
        if store.is_invocation_stop_requested(id).await.unwrap_or_default() {
            return;
        }
    }
}

/// Builds the row of a request to a model; those below are of sub-agents and of routines.
pub(super) fn step(owner: &str, id: &str, agent: &str, reply: InvocationReply) -> StepRecord {
    let (call_id, agent) = match reply.below {
        Some((call_id, agent)) => (Some(call_id), agent),
        None => (None, agent.to_owned()),
    };
    StepRecord { call_id, ..steps::outside_conversation(owner, id, &agent, reply.usage) }
}

impl Executed {
    /// Returns how the execution ends. `is_ended` says whether memory was almost used up.
    pub(super) fn end(&self, is_ended: bool) -> ExecutionEnd {
        let is_stopped = matches!(self.result, Err(InvokeError::Stopped));
        let error = self.result.as_ref().err();
        let (status, output, message) = response(&self.result);
        let end = |status, reason, error| ExecutionEnd { status, reason, output: None, error: Some(error) };
        match error {
            Some(_) if is_ended && is_stopped => {
                end(InvocationStatus::Failed, EndReason::Memory, errors::ended_for_memory().message)
            }
            Some(_) if self.is_stopped && is_stopped => {
                end(InvocationStatus::Stopped, EndReason::StoppedByUser, "The run was stopped.".to_owned())
            }
            Some(_) if self.is_too_large => {
                let message = "The input and output of the run are larger than its tier allows.";
                end(InvocationStatus::Failed, EndReason::TooLong, message.to_owned())
            }
            error => {
                let reason = error.map_or(EndReason::Done, ending::invocation_reason);
                ExecutionEnd { status, reason, output, error: message }
            }
        }
    }

    /// Returns what is stored at the end.
    pub(super) fn finish(&mut self, id: &str, end: &ExecutionEnd) -> FinishInvocation {
        FinishInvocation {
            id: id.to_owned(),
            status: end.status,
            output: end.output.clone(),
            error: end.error.clone(),
            reason: end.reason,
            usage: serde_json::to_value(self.usage).unwrap_or_default(),
            now: crate::now(),
            steps: std::mem::take(&mut self.steps),
        }
    }

    /// Logs the end, and reports it to telemetry.
    pub(super) fn report(&self, id: &str, agent: &str, end: &ExecutionEnd) {
        self.recorder.ended_as(outcome(end.status), end.reason);
        let reason = end.reason.name();
        match self.result.as_ref().err() {
            Some(InvokeError::Waiting(_)) => tracing::info!(run = id, agent, "a run waits for an answer"),
            // The error quotes the model's answer, which must not be logged.
            Some(InvokeError::SchemaMismatch(_)) => {
                tracing::warn!(invocation = id, agent, reason, "an invocation's answer does not fit its schema");
            }
            Some(error) => {
                let cause = self.bound.clone().unwrap_or_else(|| error.to_string());
                tracing::warn!(invocation = id, agent, reason, cause, "an invocation failed");
            }
            None => tracing::info!(invocation = id, agent, reason, "an invocation ended"),
        }
    }
}

/// Returns the outcome in the terms of a run.
pub(super) fn outcome(status: InvocationStatus) -> &'static str {
    match status {
        InvocationStatus::Succeeded => "done",
        InvocationStatus::Timeout => "timeout",
        InvocationStatus::Waiting => "waiting",
        InvocationStatus::Stopped => "stopped",
        InvocationStatus::Pending | InvocationStatus::Running | InvocationStatus::Failed => "failed",
    }
}

/// Returns the status, output and error message of an invocation. The cause of a failure is logged.
fn response(output: &Result<Value, InvokeError>) -> (InvocationStatus, Option<Value>, Option<String>) {
    let error = match output {
        Ok(output) => return (InvocationStatus::Succeeded, Some(output.clone()), None),
        Err(error) => error,
    };
    let status = match error {
        InvokeError::TimedOut => InvocationStatus::Timeout,
        InvokeError::Waiting(_) => return (InvocationStatus::Waiting, None, None),
        _ => InvocationStatus::Failed,
    };
    let text = match error {
        InvokeError::Model(error) => errors::model_error(error).message,
        InvokeError::TimedOut => "There was no answer within the time limit of this tier.".to_owned(),
        InvokeError::Stopped => super::running::ABANDONED.to_owned(),
        InvokeError::UnknownPrice(model) => errors::unknown_price(model).message,
        InvokeError::Limit(limit) | InvokeError::Incomplete { limit, .. } => {
            let explained = ending::limit_reason(*limit).explanation();
            explained.unwrap_or("The agent reached its limit before it had an answer.").to_owned()
        }
        InvokeError::InvalidCall(_) => errors::invalid_call().message,
        InvokeError::NotRecorded => errors::not_saved().message,
        InvokeError::TooLong
        | InvokeError::Waiting(_)
        | InvokeError::SchemaMismatch(_)
        | InvokeError::Unchecked(_)
        | InvokeError::NotAdmitted(_) => error.to_string(),
    };
    // The text of an incomplete answer is kept as the output of the failed run.
    let output = match error {
        InvokeError::Incomplete { text, .. } => Some(Value::from(text.as_str())),
        _ => None,
    };
    (status, output, Some(text))
}
