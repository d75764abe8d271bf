//! One call of an agent's tool that a program makes instead of the model. It passes the same gates:
//! the schema, the policies, approvals and limits.

use super::tools::GivenApprovals;
use super::{InvocationObserver, InvocationReply};
use crate::calls::validation::CheckedCall;
use crate::limits::loop_detection::LoopVerdict;
use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{
    Agent, ContextInput, Event, EventSink, ExposureState, Limit, SinkClosed, TurnInput, TurnLimits, TurnUsage,
};
use contract::{Execution, RunScope, ToolCall};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// A call of a tool.
pub struct ToolRequest {
    /// The call.
    pub call: ToolCall,
    /// Whether the program approves it in advance. As with a standing approval, a policy that asks and
    /// a tool that must be approved each time still need a person.
    pub is_approved: bool,
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
    agent.tools.retain(|tool| tool.spec().execution == Execution::Server);
    // No message is answered.
    agent.routes = &[];
    agent.settings.limits = agent.settings.limits.stricter(&request.limits);
    let ToolRequest { call, is_approved, time, scope, observer, cancel: outer, .. } = request;
    let approved = if is_approved { vec![call.name.clone()] } else { Vec::new() };
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
        pending: Vec::new(),
        scope,
        grants: Some(Arc::new(GivenApprovals { tools: approved, can_ask: false })),
        exposure: ExposureState::default(),
        turn_start: 0,
        earlier: TurnUsage::default(),
        cancel: cancel.clone(),
    };
    let mut run = Run::new(&agent, turn, None, cancel.clone());
    let mut sink = CallSink { observer, started: None, limit: Duration::MAX, replies: Vec::new() };
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

/// Makes the call as if it were the only one of a reply.
async fn make_call(run: &mut Run<'_>, call: ToolCall, sink: &mut CallSink) -> Result<Value, ToolFailure> {
    run.gather_tools(sink).await.map_err(failure)?;
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
    match results.remove(&id) {
        Some(Ok(output)) => Ok(output),
        Some(Err(error)) if sink.started.is_some() => Err(ToolFailure::Failed(error.message)),
        Some(Err(error)) if run.is_over_calls => Err(ToolFailure::Limit(Limit::ToolCalls, error.message)),
        Some(Err(error)) => Err(ToolFailure::Refused(error.message)),
        None => Err(ToolFailure::Stopped),
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
    observer: Arc<dyn InvocationObserver>,
    /// When the tool was called.
    started: Option<Instant>,
    /// The tool's own time limit.
    limit: Duration,
    replies: Vec<InvocationReply>,
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
