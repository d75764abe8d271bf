//! One call of an agent's tool that a program, or the user interface of a tool, makes instead of the
//! model. It passes the same gates: the schema, the policies, approvals and limits.

use super::tools::GivenApprovals;
use super::{InvocationObserver, InvocationReply};
use crate::calls::validation::CheckedCall;
use crate::limits::loop_detection::LoopVerdict;
use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{
    Agent, ContextInput, Decision, Event, EventSink, Limit, PendingCall, SinkClosed, TurnInput, TurnLimits, TurnUsage,
};
use contract::{Execution, Exposure, RunScope, ToolCall, ToolError};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The result of a call that the user has denied.
const DENIED: &str = "The user denied the call.";

/// A call of a tool.
pub struct ToolRequest {
    /// The call.
    pub call: ToolCall,
    /// Whether the program approves it in advance. As with a standing approval, a policy that asks and
    /// a tool that must be approved each time still need a person.
    pub is_approved: bool,
    /// Set if the user interface of a tool makes the call: the user is there to approve it.
    pub app: Option<AppCall>,
    /// Limits beside those of the agent; the stricter ones apply.
    pub limits: TurnLimits,
    /// The time limit, beside that of the tool.
    pub time: Duration,
    /// The user for whom the call is made, with the key of the call. The agent adds its id.
    pub scope: RunScope,
    /// Records each event before it has an effect.
    pub observer: Arc<dyn InvocationObserver>,
    /// Cancels the call.
    pub cancel: CancellationToken,
}

/// A call by a user interface that a source of tools has shown to the user (an MCP App).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppCall {
    /// The name of the source. Only its tools can be called, and only those that it has for user interfaces.
    pub source: String,
    /// The sources that were read in the conversation so far.
    pub exposure: Exposure,
    /// The user's decision, if they were asked about this call.
    pub decision: Option<AppDecision>,
}

/// The user's decision on a call; see [`ToolFailure::NeedsApproval`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppDecision {
    /// Whether the call may run.
    pub approved: bool,
    /// The fingerprint of the tool about which the user was asked. If it has changed since, the user is asked again.
    pub fingerprint: String,
}

/// Why a call of a tool has no result. The messages are for users.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFailure {
    /// It did not run: there is no such tool, the arguments do not fit, or it was not allowed.
    #[error("{0}")]
    Refused(String),
    /// It did not run, or could not complete, because of a limit.
    #[error("{1}")]
    Limit(Limit, String),
    /// The tool has failed.
    #[error("{0}")]
    Failed(String),
    /// The tool did not end in time.
    #[error("{0}")]
    TimedOut(String),
    /// The call was cancelled.
    #[error("The call was stopped before it ended.")]
    Stopped,
    /// It did not run, because the user has to approve it; has the tool's fingerprint. Only the call of
    /// an [app](AppCall) asks, others are refused.
    #[error("The call needs the user's approval.")]
    NeedsApproval(String),
    /// The call could not be recorded, so it did not run, or its end is not recorded.
    #[error("The call could not be recorded.")]
    NotRecorded,
}

/// The outcome of a call with its usage.
#[derive(Debug)]
pub struct ToolCallResult {
    /// The result.
    pub output: Result<Value, ToolFailure>,
    /// The requests to models that the tool has made.
    pub replies: Vec<InvocationReply>,
}

/// Calls a tool of an agent.
pub async fn call_tool(agent: &Agent, request: ToolRequest) -> ToolCallResult {
    let mut agent = agent.clone();
    match &request.app {
        Some(app) => only_source(&mut agent, &app.source),
        None => agent.tools.retain(|tool| tool.spec().execution == Execution::Server),
    }
    // No message is answered.
    agent.routes = &[];
    agent.settings.limits = agent.settings.limits.stricter(&request.limits);
    let ToolRequest { call, is_approved, app, time, scope, observer, cancel: outer, .. } = request;
    let approved = if is_approved { vec![call.name.clone()] } else { Vec::new() };
    let can_ask = app.is_some();
    let AppCall { exposure, decision, .. } = app.unwrap_or_default();
    let pending = decision.map(|decision| decided(call.clone(), decision));
    // A child token, so that only the outcome tells a time limit from a stop.
    let cancel = outer.child_token();
    let clock = cancel.clone();
    let _timer = AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(time).await;
        clock.cancel();
    }));
    let turn = TurnInput {
        context: ContextInput::default(),
        messages: Vec::new(),
        pending: pending.into_iter().collect(),
        scope,
        grants: Some(Arc::new(GivenApprovals { tools: approved, can_ask })),
        exposure: exposure.into(),
        turn_start: 0,
        earlier: TurnUsage::default(),
        cancel: cancel.clone(),
    };
    let mut run = Run::new(&agent, turn, None, cancel.clone());
    let mut sink = CallSink {
        call_id: call.id.clone(),
        observer,
        started: None,
        limit: Duration::MAX,
        replies: Vec::new(),
        result: None,
    };
    let output = make_call(&mut run, call, &mut sink).await;
    let output = match output {
        Err(ToolFailure::Failed(_) | ToolFailure::Stopped) if outer.is_cancelled() => Err(ToolFailure::Stopped),
        Err(ToolFailure::Failed(_) | ToolFailure::Stopped) if cancel.is_cancelled() => {
            Err(ToolFailure::TimedOut(format!("The tool did not end within {} s.", time.as_secs_f32())))
        }
        Err(ToolFailure::Failed(message)) => Err(match run.caller.meter.reached() {
            Some(limit) => ToolFailure::Limit(limit, message),
            None if sink.is_late() => ToolFailure::TimedOut(message),
            None => ToolFailure::Failed(message),
        }),
        output => output,
    };
    ToolCallResult { output, replies: sink.replies }
}

/// Leaves the agent with the tools of one source.
fn only_source(agent: &mut Agent, name: &str) {
    agent.tools.clear();
    agent.agents.clear();
    agent.sources.retain(|source| source.name() == name);
}

/// The call with the user's decision, as if the user had answered a request of an earlier run.
fn decided(call: ToolCall, AppDecision { approved, fingerprint }: AppDecision) -> PendingCall {
    let decision = if approved { Decision::Approved } else { Decision::Denied(None) };
    PendingCall { call, decision, state: None, tool_fingerprint: Some(fingerprint), grant: None, cut_off: false }
}

/// Makes the call as if it were the only one of a reply.
async fn make_call(run: &mut Run<'_>, call: ToolCall, sink: &mut CallSink) -> Result<Value, ToolFailure> {
    run.gather_tools(sink).await.map_err(failure)?;
    if !run.pending.is_empty() {
        run.apply_decisions(sink).await.map_err(failure)?;
        return outcome(run, sink.result.take(), sink);
    }
    let tool = run.caller.cancel.run_until_cancelled(run.offer.resolve(&call, &call.input)).await;
    let tool = tool.ok_or(ToolFailure::Stopped)?;
    if let Ok(tool) = &tool {
        sink.limit = tool.spec().timeout;
    }
    let event = match &tool {
        Ok(_) => Event::ToolCall { call: call.clone(), dynamic: false },
        Err(invalid) => Event::ToolCallInvalid {
            id: call.id.clone(),
            name: call.name.clone(),
            input: invalid.input.clone(),
            error: invalid.error.clone(),
            dynamic: invalid.dynamic,
            metadata: call.metadata.clone(),
        },
    };
    sink.emit(event).await.map_err(|SinkClosed| ToolFailure::NotRecorded)?;
    let id = call.id.clone();
    let checked = vec![CheckedCall { call, tool }];
    let (mut results, _) = run.run_calls(checked, true, LoopVerdict::Fine, sink).await.map_err(failure)?;
    outcome(run, results.remove(&id), sink)
}

fn outcome(run: &mut Run<'_>, result: Option<Result<Value, ToolError>>, sink: &CallSink) -> Result<Value, ToolFailure> {
    let asked = run.waiting.pop().and_then(|waiting| waiting.tool_fingerprint);
    match (result, asked) {
        (Some(Ok(output)), _) => Ok(output),
        (Some(Err(error)), _) if sink.started.is_some() => Err(ToolFailure::Failed(error.message)),
        (Some(Err(error)), _) if run.is_over_calls => Err(ToolFailure::Limit(Limit::ToolCalls, error.message)),
        (Some(Err(error)), _) => Err(ToolFailure::Refused(error.message)),
        (None, Some(fingerprint)) => Err(ToolFailure::NeedsApproval(fingerprint)),
        (None, None) => Err(ToolFailure::Stopped),
    }
}

fn failure(failure: RunFailure) -> ToolFailure {
    match failure {
        RunFailure::Sink => ToolFailure::NotRecorded,
        RunFailure::Model(_) | RunFailure::TooLong(_) | RunFailure::UnknownPrice { .. } => ToolFailure::Stopped,
    }
}

/// Passes events to the observer, and collects the usage.
struct CallSink {
    call_id: String,
    observer: Arc<dyn InvocationObserver>,
    /// When the tool was called.
    started: Option<Instant>,
    /// The tool's own time limit.
    limit: Duration,
    replies: Vec<InvocationReply>,
    /// The result, once there is one.
    result: Option<Result<Value, ToolError>>,
}

impl CallSink {
    /// Returns whether the tool has run for as long as it may.
    fn is_late(&self) -> bool {
        self.started.is_some_and(|started| started.elapsed() >= self.limit)
    }
}

impl EventSink for CallSink {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.observer.observe(&event).await?;
        match event {
            Event::ToolStarted { .. } => self.started = Some(Instant::now()),
            Event::ToolFinished { call_id, result, .. } if call_id == self.call_id => self.result = Some(result),
            Event::ToolDenied { call_id, .. } if call_id == self.call_id => {
                self.result = Some(Err(ToolError::new(DENIED)))
            }
            Event::Nested { call_id, agent_id, event } => {
                if let Event::ReplyComplete(usage) = *event {
                    self.replies.push(InvocationReply { below: Some((call_id, agent_id)), usage });
                }
            }
            _ => {}
        }
        Ok(())
    }
}
