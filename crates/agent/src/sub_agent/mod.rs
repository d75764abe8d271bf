//! Agents as tools: a sub-agent receives a task and runs by itself, with its own model,
//! instructions and tools. The calling agent reads only its answer; the user sees its progress.
//!
//! A call of the sub-agent that needs the user's approval suspends it: its run ends with the state
//! from which it resumes, and the calling agent's call waits. The user's decision applies to the
//! sub-agent's call, and its run resumes.

mod definition;
pub(crate) mod parent;
mod suspended;
mod view;

pub use definition::SubAgent;
pub use suspended::{NestedCall, waiting_nested_calls};

use crate::calls::execution::CallScope;
use crate::calls::outcome::CallOutcome;
use crate::event::EventRecorder;
use crate::run::run_nested;
use crate::sub_agent::parent::ParentContext;
use crate::{Agent, ContextInput, Decision, Ending, Grant, PendingCall, TurnInput, TurnUsage};
use contract::{CallReports, Message, RunScope, ToolCall, UserPart};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use suspended::SuspendedRun;
use view::{SubAgentState, SubAgentView, ViewSink};

/// A suspended run that resumes.
pub(crate) struct Resumption {
    pub(crate) state: Value,
    pub(crate) decision: Decision,
    /// The standing approval that was given with the decision.
    pub(crate) grant: Option<Grant>,
}

/// Runs the sub-agent once one of the permits is free that all levels share. The future is boxed,
/// because a sub-agent may have sub-agents.
pub(crate) fn run_sub_agent<'a>(
    below: &'a SubAgent,
    call: &'a ToolCall,
    resumed: Option<Resumption>,
    caller: CallScope,
    above: (CallReports, EventRecorder),
) -> BoxFuture<'a, CallOutcome> {
    async move {
        let Some(place) = caller.permit.acquire_child(&caller.cancel).await else {
            return CallOutcome::failed("The agent was stopped before it began.");
        };
        let caller = CallScope { permit: place, ..caller };
        match resumed {
            None => begin(below, call, caller, above).await,
            Some(resumed) => resume(below, call, resumed, caller, above).await,
        }
    }
    .boxed()
}

async fn begin(
    below: &SubAgent,
    call: &ToolCall,
    caller: CallScope,
    above: (CallReports, EventRecorder),
) -> CallOutcome {
    let task = call.input.get(if below.is_copy { "prompt" } else { "task" });
    let text = match task.and_then(Value::as_str) {
        Some(task) => task.to_owned(),
        None => call.input.to_string(),
    };
    let messages = vec![Arc::new(Message::User(vec![UserPart::Text { text }]))];
    let turn = new_turn(&caller, call, messages, Vec::new(), TurnUsage::default());
    let sink = ViewSink::new(SubAgentView::new(&below.agent.id), call, above);
    run_turn(&below.for_call(call), turn, caller, sink).await
}

async fn resume(
    below: &SubAgent,
    call: &ToolCall,
    resumed: Resumption,
    caller: CallScope,
    above: (CallReports, EventRecorder),
) -> CallOutcome {
    let Some(mut suspended) = SuspendedRun::read(resumed.state) else {
        return CallOutcome::failed("The agent's previous state is lost. Give it the task again.");
    };
    suspended.decide(resumed.decision, resumed.grant);
    // A standing approval that was given with this decision may cover further calls.
    while let Some(next) = suspended.next()
        && let Some(grant) = caller.find_grant_for_waiting(&below.agent.id, &next).await
    {
        suspended.decide(Decision::Approved, Some(grant));
    }
    if suspended.has_undecided() {
        return suspended.suspend();
    }
    let earlier = suspended.earlier.clone();
    let (messages, pending, view) = suspended.into_turn();
    let sink = ViewSink::new(view, call, above);
    run_turn(&below.for_call(call), new_turn(&caller, call, messages, pending, earlier), caller, sink).await
}

fn new_turn(
    caller: &CallScope,
    call: &ToolCall,
    messages: Vec<Arc<Message>>,
    pending: Vec<PendingCall>,
    earlier: TurnUsage,
) -> TurnInput {
    let mut scope = RunScope::clone(&caller.scope.clone().for_call(call));
    if !scope.key.is_empty() {
        // The ids of calls are unique within a task only.
        scope.key = format!("{}/{}", scope.key, scope.call_key.as_deref().unwrap_or(&call.id));
    }
    TurnInput {
        messages,
        // A task has no history: all messages belong to this turn.
        turn_start: 0,
        pending,
        scope,
        grants: caller.grants.clone(),
        exposure: caller.exposure.clone(),
        context: ContextInput::default(),
        earlier,
        cancel: caller.cancel.clone(),
    }
}

async fn run_turn(agent: &Agent, turn: TurnInput, caller: CallScope, mut sink: ViewSink) -> CallOutcome {
    let CallScope { meter, policies, permit: place, time, .. } = caller;
    let above = ParentContext { meter, policies, permit: place, time };
    let outcome = run_nested(agent, turn, Some(above), &mut sink).await;
    let mut view = sink.into_view(outcome.usage, outcome.cost_usd);
    match outcome.ending {
        Ending::Waiting => SuspendedRun::new(outcome.messages, outcome.waiting, outcome.turn_usage, view).suspend(),
        Ending::Done => {
            view.state = SubAgentState::Done;
            CallOutcome::Result(Ok(view.to_value()))
        }
        Ending::Limit(_) if view.text.trim().is_empty() => {
            CallOutcome::failed("The agent was stopped at a limit before it had an answer.")
        }
        Ending::Limit(_) => {
            view.state = SubAgentState::Limit;
            CallOutcome::Result(Ok(view.to_value()))
        }
        Ending::Stopped | Ending::SinkClosed | Ending::EmptySummary => {
            CallOutcome::failed("The agent was stopped before it finished. Its actions so far remain in effect.")
        }
        Ending::UnknownPrice { model } => {
            tracing::warn!(agent = agent.id, model, "a sub-agent was not run: its model's price is not known");
            CallOutcome::failed(
                "The agent was not run: the price of its model is not known, so the cost limit cannot be kept.",
            )
        }
        Ending::InvalidCall { tool } => {
            tracing::warn!(agent = agent.id, tool, "a sub-agent ended at an invalid call");
            CallOutcome::failed("The agent failed: it made an invalid tool call. Its actions so far remain in effect.")
        }
        Ending::Failed(error) => {
            tracing::warn!(agent = agent.id, %error, "a sub-agent failed");
            CallOutcome::failed(
                "The agent failed: its model could not be reached, or refused. Its actions so far remain in effect.",
            )
        }
    }
}
