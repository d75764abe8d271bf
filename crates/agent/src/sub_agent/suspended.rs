//! What a suspended agent goes on from. It is stored with the conversation and never leaves the server.

use super::view::View;
use crate::spent::Spent;
use crate::tools::Came;
use crate::{Decision, Grant, PendingCall, WaitingCall};
use contract::{ApprovalTerms, Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A run that waits for the user, whole.
#[derive(Serialize, Deserialize)]
pub(super) struct Suspended {
    messages: Vec<Message>,
    /// Calls that need a decision, in their order; one is asked after the other.
    calls: Vec<Call>,
    view: View,
    /// What it took so far, which goes on to count for its limits.
    #[serde(default)]
    pub(super) earlier: Spent,
}

#[derive(Serialize, Deserialize)]
struct Call {
    call: ToolCall,
    /// Of an agent below that is suspended itself.
    state: Option<Value>,
    /// The tool as it was when the user was asked.
    asked: Option<String>,
    /// How the user is asked.
    #[serde(default)]
    terms: ApprovalTerms,
    decision: Option<Decision>,
    /// The standing approval behind the decision.
    #[serde(default)]
    grant: Option<Grant>,
}

impl Suspended {
    pub(super) fn new(messages: Vec<Arc<Message>>, waiting: Vec<WaitingCall>, earlier: Spent, view: View) -> Self {
        let messages = messages.into_iter().map(Arc::unwrap_or_clone).collect();
        let calls = waiting.into_iter().map(|waiting| {
            let WaitingCall { call, state, asked, terms } = waiting;
            Call { call, state, asked, terms, decision: None, grant: None }
        });
        Self { messages, calls: calls.collect(), view, earlier }
    }

    pub(super) fn read(state: Value) -> Option<Self> {
        serde_json::from_value(state)
            .inspect_err(|error| tracing::error!(%error, "a suspended agent cannot be read"))
            .ok()
    }

    /// The first call that has none gets this decision, perhaps with the standing approval behind it.
    pub(super) fn decide(&mut self, decision: Decision, grant: Option<Grant>) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.decision.is_none()) {
            (call.decision, call.grant) = (Some(decision), grant);
        }
    }

    /// The next call that needs a decision.
    pub(super) fn next(&self) -> Option<WaitingCall> {
        let Call { call, state, asked, terms, .. } = self.calls.iter().find(|call| call.decision.is_none())?;
        Some(WaitingCall { call: call.clone(), state: state.clone(), asked: asked.clone(), terms: terms.clone() })
    }

    /// Whether there is more to decide.
    pub(super) fn asks(&self) -> bool {
        self.calls.iter().any(|call| call.decision.is_none())
    }

    /// The call above waits, for the next decision.
    pub(super) fn wait(mut self) -> Came {
        let mut terms = ApprovalTerms::default();
        if let Some(next) = self.next() {
            self.view.ask(&next.call.name, &next.call.input, &next.call.id);
            terms = next.terms;
        }
        let output = self.view.to_value();
        match serde_json::to_value(&self) {
            Ok(state) => Came::Suspended { output, state, terms },
            Err(error) => {
                tracing::error!(%error, "a suspended agent cannot be written");
                super::failed("The agent could not wait for the user.")
            }
        }
    }

    /// What the run goes on with.
    pub(super) fn into_turn(self) -> (Vec<Arc<Message>>, Vec<PendingCall>, View) {
        let pending = self.calls.into_iter().map(|Call { call, state, asked, decision, grant, .. }| {
            // Whatever was not decided is not done.
            let decision = decision.unwrap_or(Decision::Denied(None));
            PendingCall { call, decision, state, asked, grant, cut_off: false }
        });
        (self.messages.into_iter().map(Arc::new).collect(), pending.collect(), self.view)
    }
}

/// A call that the user is asked about within a suspended one, however deep.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// The agent that made it.
    pub agent_id: String,
    /// The call, with the calls on the way to it in its id, as in [`crate::Event::Nested`].
    pub call: ToolCall,
    /// The tool as it was when the user was asked.
    pub asked: Option<String>,
}

/// The calls that wait in what the call `above` goes on from, the one that the user is asked about first; none where that cannot be read.
pub fn waiting_within(above: &str, state: &Value) -> Vec<Within> {
    let Ok(suspended) = Suspended::deserialize(state) else { return Vec::new() };
    let agent_id = suspended.view.agent_id();
    let open = suspended.calls.iter().filter(|call| call.decision.is_none());
    let within = open.flat_map(|Call { call, state, asked, .. }| {
        let id = format!("{above}/{}", call.id);
        match state {
            Some(state) => waiting_within(&id, state),
            None => {
                let call = ToolCall { id, ..call.clone() };
                vec![Within { agent_id: agent_id.to_owned(), call, asked: asked.clone() }]
            }
        }
    });
    within.collect()
}
