//! The state from which a suspended sub-agent resumes. It is stored with the conversation and never
//! leaves the server.

use super::view::SubAgentView;
use crate::calls::outcome::CallOutcome;
use crate::limits::turn_usage::TurnUsage;
use crate::{Decision, Grant, PendingCall, WaitingCall};
use contract::{ApprovalTerms, Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A complete run that waits for the user.
#[derive(Serialize, Deserialize)]
pub(super) struct SuspendedRun {
    messages: Vec<Message>,
    /// The calls that need a decision, in order. The user is asked about one at a time.
    calls: Vec<SuspendedCall>,
    view: SubAgentView,
    /// The usage so far, which continues to count for the limits.
    #[serde(default)]
    pub(super) earlier: TurnUsage,
}

#[derive(Serialize, Deserialize)]
struct SuspendedCall {
    call: ToolCall,
    /// The state of a sub-agent that is suspended itself.
    state: Option<Value>,
    /// The tool's fingerprint when the user was asked.
    asked: Option<String>,
    /// The terms of the approval request.
    #[serde(default)]
    terms: ApprovalTerms,
    decision: Option<Decision>,
    /// The standing approval behind the decision.
    #[serde(default)]
    grant: Option<Grant>,
}

impl SuspendedRun {
    pub(super) fn new(
        messages: Vec<Arc<Message>>,
        waiting: Vec<WaitingCall>,
        earlier: TurnUsage,
        view: SubAgentView,
    ) -> Self {
        let messages = messages.into_iter().map(Arc::unwrap_or_clone).collect();
        let calls = waiting.into_iter().map(|waiting| {
            let WaitingCall { call, state, tool_fingerprint: asked, terms } = waiting;
            SuspendedCall { call, state, asked, terms, decision: None, grant: None }
        });
        Self { messages, calls: calls.collect(), view, earlier }
    }

    pub(super) fn read(state: Value) -> Option<Self> {
        serde_json::from_value(state)
            .inspect_err(|error| tracing::error!(%error, "the state of a suspended sub-agent cannot be read"))
            .ok()
    }

    /// Sets the decision on the first undecided call, with the standing approval behind it, if any.
    pub(super) fn decide(&mut self, decision: Decision, grant: Option<Grant>) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.decision.is_none()) {
            (call.decision, call.grant) = (Some(decision), grant);
        }
    }

    /// Returns the next call that needs a decision.
    pub(super) fn next(&self) -> Option<WaitingCall> {
        let SuspendedCall { call, state, asked, terms, .. } = self.calls.iter().find(|call| call.decision.is_none())?;
        Some(WaitingCall {
            call: call.clone(),
            state: state.clone(),
            tool_fingerprint: asked.clone(),
            terms: terms.clone(),
        })
    }

    /// Returns whether any call still needs a decision.
    pub(super) fn has_undecided(&self) -> bool {
        self.calls.iter().any(|call| call.decision.is_none())
    }

    /// Suspends the calling agent's call until the next decision.
    pub(super) fn suspend(mut self) -> CallOutcome {
        let mut terms = ApprovalTerms::default();
        if let Some(next) = self.next() {
            self.view.ask(&next.call.name, &next.call.input, &next.call.id);
            terms = next.terms;
        }
        let output = self.view.to_value();
        match serde_json::to_value(&self) {
            Ok(state) => CallOutcome::Suspended { output, state, terms },
            Err(error) => {
                tracing::error!(%error, "the state of a suspended sub-agent cannot be written");
                CallOutcome::failed("The agent could not wait for the user.")
            }
        }
    }

    /// Returns the messages, the decided calls and the view with which the run continues.
    pub(super) fn into_turn(self) -> (Vec<Arc<Message>>, Vec<PendingCall>, SubAgentView) {
        let pending = self.calls.into_iter().map(|SuspendedCall { call, state, asked, decision, grant, .. }| {
            // A call without a decision is not run.
            let decision = decision.unwrap_or(Decision::Denied(None));
            PendingCall { call, decision, state, tool_fingerprint: asked, grant, cut_off: false }
        });
        (self.messages.into_iter().map(Arc::new).collect(), pending.collect(), self.view)
    }
}

/// A call within a suspended one, on any level, that waits for the user's decision.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedCall {
    /// The agent that made the call.
    pub agent_id: String,
    /// The call. Its id is the path of calls to it, as in [`crate::Event::Nested`].
    pub call: ToolCall,
    /// The tool's fingerprint when the user was asked.
    pub tool_fingerprint: Option<String>,
}

/// Returns the calls that wait within the state of the suspended call `above`, first the one that
/// the user is asked about next. Empty if the state cannot be read.
pub fn waiting_nested_calls(above: &str, state: &Value) -> Vec<NestedCall> {
    let Ok(suspended) = SuspendedRun::deserialize(state) else { return Vec::new() };
    let agent_id = suspended.view.agent_id();
    let open = suspended.calls.iter().filter(|call| call.decision.is_none());
    let within = open.flat_map(|SuspendedCall { call, state, asked, .. }| {
        let id = format!("{above}/{}", call.id);
        match state {
            Some(state) => waiting_nested_calls(&id, state),
            None => {
                let call = ToolCall { id, ..call.clone() };
                vec![NestedCall { agent_id: agent_id.to_owned(), call, tool_fingerprint: asked.clone() }]
            }
        }
    });
    within.collect()
}
