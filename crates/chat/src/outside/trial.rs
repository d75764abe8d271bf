//! Tool trials by an administrator: one call, as if the agent's model had made it, with every gate
//! and an audit entry.

use crate::errors::Result;
use crate::record::audit::{Auditor, RunContext};
use crate::record::steps;
use crate::record::telemetry::in_trace;
use crate::{Caller, Chat, Inner, errors};
use agent::{Agent, Decision, Event, EventSink, PendingCall, ReplyUsage, SinkClosed, TurnInput};
use contract::{FinishReason, Model, ModelError, ModelId, Part, PartStream, Request, ToolError, Usage};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{AuditEntry, AuditOutcome, GateDecision};
use tokio_util::sync::CancellationToken;
use wire::{ErrorCode, UserError};

/// The maximum size of the arguments in bytes.
const MAX_ARGUMENTS: usize = 64 * 1024;
/// The reason for denying a call that needs approval.
const NOT_APPROVED: &str = "Not approved in this trial.";

/// A tool call to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialRequest {
    /// The agent that has the tool.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments as JSON; empty for none.
    pub arguments: String,
    /// Whether to approve the call if it needs approval.
    pub approved: bool,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrialResult {
    /// The outcome, as in the audit log.
    pub outcome: AuditOutcome,
    /// The gate decisions, in order.
    pub gates: Vec<GateDecision>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The error message for the model, if there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the tool ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
}

impl Chat {
    /// Makes one call of an agent's tool with the caller's rights. A call that needs approval runs
    /// only if the request approves it. The call is recorded in the audit log, and continues if the
    /// caller disconnects.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 for too large arguments, 422 for a tool
    /// that runs in a browser, 503 if the store fails. A failure of the tool itself is reported in
    /// the result.
    pub async fn try_tool(&self, caller: &Caller, request: TrialRequest) -> Result<TrialResult, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.try_tool(&caller, request).await }));
        Ok(task.await.map_err(|_| errors::internal())??)
    }
}

impl Inner {
    /// See [`Chat::try_tool`].
    async fn try_tool(&self, caller: &Caller, request: TrialRequest) -> Result<TrialResult> {
        if request.arguments.len() > MAX_ARGUMENTS {
            return Err(UserError::new(ErrorCode::TooLarge, "The arguments are longer than 64 KB.").into());
        }
        let run_id = uuid::Uuid::now_v7().to_string();
        let agent = Agent::clone(&*self.agents.by_id(caller, &request.agent_id).await?);
        let agent = with_scripted_model(agent, &run_id, &request);
        let subject = RunContext {
            user_id: caller.user_id.clone(),
            agent_id: request.agent_id,
            conversation_id: String::new(),
            message_id: String::new(),
            run_id,
        };
        let cancel = self.stopping.child_token();
        let facts = (subject.user_id.clone(), subject.run_id.clone());
        let auditor = Auditor::new(subject, cancel.clone());
        let mut seen = TrialSink { auditor, row: None, result: None, replies: Vec::new() };
        let turn = |messages, pending| TurnInput {
            messages,
            pending,
            scope: caller.scope(),
            grants: None,
            exposure: agent::ExposureState::default(),
            turn_start: 0,
            context: agent::ContextInput::default(),
            earlier: agent::TurnUsage::default(),
            cancel: cancel.clone(),
        };
        let mut outcome = agent::run(&agent, turn(Vec::new(), Vec::new()), &mut seen).await;
        if let Some(waiting) = outcome.waiting.pop() {
            let decision =
                if request.approved { Decision::Approved } else { Decision::Denied(Some(NOT_APPROVED.to_owned())) };
            let agent::WaitingCall { call, state, tool_fingerprint: asked, .. } = waiting;
            let pending =
                vec![PendingCall { call, decision, state, tool_fingerprint: asked, grant: None, cut_off: false }];
            agent::run(&agent, turn(outcome.messages, pending), &mut seen).await;
        }
        for (agent_id, replied) in seen.replies.drain(..) {
            self.record_outside_usage(steps::outside_conversation(&facts.0, &facts.1, &agent_id, replied)).await;
        }
        let Some(row) = seen.row else {
            let text = "This tool runs in a user's browser, or is another agent. It cannot be tried here.";
            return Err(UserError::invalid("/tool", text).into());
        };
        self.store.record_audit(row.clone()).await?;
        let (output, error) = match seen.result {
            Some(Ok(output)) => (Some(output), None),
            Some(Err(error)) => (None, Some(error.message)),
            None => (None, Some(NOT_APPROVED.to_owned())),
        };
        Ok(TrialResult { outcome: row.outcome, gates: row.gates, output, error, duration_ms: row.duration_ms })
    }
}

/// Replaces the agent's model by one that makes the requested call.
fn with_scripted_model(mut agent: Agent, id: &str, request: &TrialRequest) -> Agent {
    let call = Part::ToolCall {
        id: id.to_owned(),
        name: request.tool.clone(),
        input: request.arguments.clone(),
        provider_executed: false,
        metadata: None,
    };
    agent.model = Arc::new(SingleCallModel::new(call));
    agent.fallbacks.clear();
    // Sub-agents would use models of their own.
    agent.agents.clear();
    agent.settings.max_steps = 1;
    // The scripted model costs nothing. The administrator is responsible for model requests of the
    // tool itself.
    agent.settings.limits.cost_usd = None;
    agent
}

/// A model that makes one call and then ends.
struct SingleCallModel {
    id: ModelId,
    call: Part,
    has_called: AtomicBool,
}

impl SingleCallModel {
    fn new(call: Part) -> Self {
        let id = ModelId { provider: "administrator".to_owned(), model: "trial".to_owned() };
        Self { id, call, has_called: AtomicBool::new(false) }
    }
}

impl Model for SingleCallModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let is_first = !self.has_called.swap(true, Ordering::Relaxed);
        let reason = if is_first { FinishReason::ToolCalls } else { FinishReason::Stop };
        let finish = Part::Finish { reason, raw_reason: None, usage: Usage::default(), metadata: None };
        let parts = is_first.then(|| self.call.clone()).into_iter().chain([finish]).map(Ok);
        async move { Ok(futures::stream::iter(parts.collect::<Vec<_>>()).boxed()) }.boxed()
    }
}

/// Collects the events of a trial.
struct TrialSink {
    auditor: Auditor,
    row: Option<AuditEntry>,
    result: Option<Result<Value, ToolError>>,
    /// The model replies of the tool's own requests, with the agent's id.
    replies: Vec<(String, ReplyUsage)>,
}

impl EventSink for TrialSink {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Event::Nested { agent_id, event, .. } = event {
            if let Event::ReplyComplete(replied) = *event {
                self.replies.push((agent_id, replied));
            }
            return Ok(());
        }
        let row = self.auditor.record(&event, None);
        // For a call that cannot be run, the end is reported after its audit entry.
        self.row = self.row.take().or(row);
        if let Event::ToolFinished { result, .. } = event {
            self.result = Some(result);
        }
        Ok(())
    }
}
