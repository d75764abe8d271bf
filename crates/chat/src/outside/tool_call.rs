//! A call of an agent's tool by a program or by the user interface of a tool, without a request to the
//! agent's model. It passes the same gates as the calls of the model, and is recorded as an invocation.

use crate::errors::Result;
use crate::outside::call_record::CallRecord;
use crate::outside::execute;
use crate::outside::invoke::InvocationUsage;
use crate::outside::invoke_request;
use crate::record::audit::RunContext;
use crate::record::telemetry::{self, Recorder, RunFacts, in_trace};
use crate::run::ending;
use crate::{Caller, Chat, Inner, errors, now};
use agent::{AppCall, AppDecision, ToolCallResult, ToolFailure, ToolRequest, call_tool};
use contract::{RunScope, ToolCall};
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use store::FinishInvocation;
use tokio_util::sync::CancellationToken;
use transcript::exposure;
use wire::invoke::{InvocationStatus, InvokeLimits};
use wire::{EndReason, ErrorCode, UserError};

/// The largest arguments in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCallRequest {
    /// The agent that has the tool. Its policy and limits apply.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments, an object.
    pub arguments: Value,
    /// Whether the call is approved in advance.
    pub is_approved: bool,
    /// Set if a user interface makes the call, which is shown in a conversation of the caller.
    pub app: Option<AppToolCall>,
    /// A key that is the same whenever the call is made again.
    pub idempotency_key: Option<String>,
    /// The workflows that led to it; see [`RunScope::causes`].
    pub causes: Vec<String>,
    /// Limits beside those of the agent; the stricter ones apply.
    pub limits: InvokeLimits,
    /// The time limit.
    pub time: Duration,
}

/// A call by the user interface of a tool (an MCP App), see [`agent::AppCall`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppToolCall {
    /// The conversation that shows the user interface.
    pub conversation_id: String,
    /// The source of the tools that it may call.
    pub source: String,
    /// The user's decision, if they were asked about this call.
    pub decision: Option<AppDecision>,
}

/// A call that has ended, with what it has used.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedToolCall {
    /// The result.
    pub output: Result<Value, ToolFailure>,
    /// The usage of the call.
    pub usage: InvocationUsage,
}

impl Chat {
    /// Calls a tool of an agent with the caller's rights, until `cancel` is cancelled.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 for too large arguments, 429 if the caller's quota is used up, 503
    /// when full, short
    /// of memory or draining. A failure of the tool itself is reported in the outcome.
    pub async fn call_tool(
        &self,
        caller: &Caller,
        request: ToolCallRequest,
        cancel: CancellationToken,
    ) -> Result<CountedToolCall, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.call_tool(&caller, request, &cancel).await }));
        Ok(task.await.map_err(|_| errors::internal())??)
    }
}

impl Inner {
    /// See [`Chat::call_tool`].
    async fn call_tool(
        &self,
        caller: &Caller,
        request: ToolCallRequest,
        outside: &CancellationToken,
    ) -> Result<CountedToolCall> {
        if request.arguments.to_string().len() > MAX_ARGUMENTS {
            return Err(UserError::new(ErrorCode::TooLarge, "The arguments are larger than 1 MB.").into());
        }
        let ToolCallRequest { agent_id, tool, arguments, is_approved, app, idempotency_key, causes, limits, time } =
            request;
        let conversation_id = app.as_ref().map(|app| app.conversation_id.clone()).unwrap_or_default();
        let app = match app {
            Some(app) => Some(self.app_call(caller, app).await?),
            None => None,
        };
        let agent = self.agents.by_id(caller, &agent_id).await?;
        let pass = self.check_quotas(caller, true, agent.unpriced_model()).await?;
        self.memory.admit(self.is_answering())?;
        let (id, cancel) = (uuid::Uuid::now_v7().simple().to_string(), self.stopping.child_token());
        let place = self.invocations.acquire(&id, cancel.clone()).ok_or_else(invoke_request::capacity_error)?;
        self.store.begin_invocation(&caller.user_id, &id, &agent_id, self.clock.now()).await?;
        // The call is stored, so it is counted.
        drop(pass);
        let facts = RunFacts {
            run_id: id.clone(),
            conversation_id: Some(conversation_id.clone()).filter(|id| !id.is_empty()),
            agent_id: agent_id.clone(),
            trace: telemetry::current_trace(),
        };
        let recorder = Recorder::begin(self.telemetry.get().cloned(), facts);
        let subject = RunContext {
            user_id: caller.user_id.clone(),
            agent_id: agent_id.clone(),
            conversation_id: conversation_id.clone(),
            message_id: id.clone(),
            run_id: id.clone(),
        };
        let record = CallRecord::new(subject, cancel.clone(), recorder.clone(), self.store.clone(), None);
        let record = Arc::new(record);
        let request = ToolRequest {
            call: ToolCall {
                id: "call".to_owned(),
                name: tool.clone(),
                input: arguments,
                provider_executed: false,
                metadata: None,
            },
            is_approved,
            limits: invoke_request::limits(&limits),
            time,
            scope: RunScope {
                conversation_id,
                for_app: app.is_some(),
                key: idempotency_key.unwrap_or_default(),
                causes,
                ..caller.scope()
            },
            app,
            observer: record.clone(),
            cancel: cancel.clone(),
        };
        let ToolCallResult { output, replies } = {
            let mut called = pin!(call_tool(&agent, request));
            tokio::select! {
                outcome = &mut called => outcome,
                () = outside.cancelled() => {
                    cancel.cancel();
                    called.await
                }
            }
        };
        record.end().await;
        let cost_usd = replies.iter().filter_map(|reply| reply.usage.cost_usd).sum();
        let unpriced = replies.iter().filter(|reply| reply.usage.cost_usd.is_none()).count();
        let tokens = replies.iter().fold(contract::Usage::default(), |mut sum, reply| {
            sum += reply.usage.usage;
            sum
        });
        let steps = replies.into_iter().map(|reply| execute::step(&caller.user_id, &id, &agent_id, reply));
        let steps: Vec<_> = steps.inspect(|step| recorder.replied(step)).collect();
        let usage = InvocationUsage {
            requests: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            total_tokens: tokens.input_tokens.saturating_add(tokens.output_tokens),
            tool_calls: record.started(),
            cost_usd,
            unpriced: u32::try_from(unpriced).unwrap_or(u32::MAX),
        };
        let reason = match output.as_ref().err() {
            Some(ToolFailure::Stopped) if place.is_ended() => EndReason::Memory,
            failure => failure.map_or(EndReason::Done, ending::tool_reason),
        };
        log_end(&id, (&agent_id, &tool), reason, output.as_ref().err());
        let status = match &output {
            Ok(_) => InvocationStatus::Succeeded,
            Err(ToolFailure::TimedOut(_)) => InvocationStatus::Timeout,
            Err(_) => InvocationStatus::Failed,
        };
        recorder.ended_as(execute::outcome(status), reason);
        let finish = FinishInvocation {
            id,
            status,
            output: output.as_ref().ok().cloned(),
            error: output.as_ref().err().map(ToolFailure::to_string),
            reason,
            usage: serde_json::to_value(tokens).unwrap_or_default(),
            now: now(),
            steps,
        };
        self.store.finish_invocation(finish).await?;
        Ok(CountedToolCall { output, usage })
    }

    /// Returns the call with what has been read in its conversation.
    async fn app_call(&self, caller: &Caller, app: AppToolCall) -> Result<AppCall> {
        let AppToolCall { conversation_id, source, decision } = app;
        let conversation = self.store.conversation(&caller.user_id, &conversation_id).await?;
        conversation.ok_or_else(UserError::not_found)?;
        let branch = self.store.branch(&caller.user_id, &conversation_id).await?;
        let messages: Vec<_> = branch.into_iter().map(|stored| stored.message).collect();
        Ok(AppCall { source, decision, exposure: exposure::for_branch(&messages).snapshot() })
    }
}

/// Logs the end of a call. The messages of tools may quote what users have written.
fn log_end(id: &str, (agent, tool): (&str, &str), reason: EndReason, failure: Option<&ToolFailure>) {
    let reason = reason.name();
    match failure {
        Some(_) => tracing::warn!(invocation = id, agent, tool, reason, "a program's call of a tool has no result"),
        None => tracing::info!(invocation = id, agent, tool, reason, "a program's call of a tool ended"),
    }
}
