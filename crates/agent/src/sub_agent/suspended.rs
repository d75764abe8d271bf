//! What a suspended agent goes on from. It is stored with the conversation and never leaves the server.

use super::view::View;
use crate::tools::Came;
use crate::{Decision, PendingCall, WaitingCall};
use contract::{Message, ToolCall};
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
}

#[derive(Serialize, Deserialize)]
struct Call {
    call: ToolCall,
    /// Of an agent below that is suspended itself.
    state: Option<Value>,
    /// The tool as it was when the user was asked.
    asked: Option<String>,
    decision: Option<Decision>,
}

impl Suspended {
    pub(super) fn new(messages: Vec<Arc<Message>>, waiting: Vec<WaitingCall>, view: View) -> Self {
        let messages = messages.into_iter().map(Arc::unwrap_or_clone).collect();
        let calls = waiting.into_iter().map(|waiting| {
            let WaitingCall { call, state, asked } = waiting;
            Call { call, state, asked, decision: None }
        });
        Self { messages, calls: calls.collect(), view }
    }

    pub(super) fn read(state: Value) -> Option<Self> {
        serde_json::from_value(state)
            .inspect_err(|error| tracing::error!(%error, "a suspended agent cannot be read"))
            .ok()
    }

    /// The first call that has none gets this decision.
    pub(super) fn decide(&mut self, decision: Decision) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.decision.is_none()) {
            call.decision = Some(decision);
        }
    }

    /// Whether there is more to decide.
    pub(super) fn asks(&self) -> bool {
        self.calls.iter().any(|call| call.decision.is_none())
    }

    /// The call above waits, for the next decision.
    pub(super) fn wait(mut self) -> Came {
        if let Some(Call { call, .. }) = self.calls.iter().find(|call| call.decision.is_none()) {
            self.view.ask(&call.name, &call.input, &call.id);
        }
        let output = self.view.to_value();
        match serde_json::to_value(&self) {
            Ok(state) => Came::Suspended { output, state },
            Err(error) => {
                tracing::error!(%error, "a suspended agent cannot be written");
                super::failed("The agent could not wait for the user.")
            }
        }
    }

    /// What the run goes on with.
    pub(super) fn into_turn(self) -> (Vec<Arc<Message>>, Vec<PendingCall>, View) {
        let pending = self.calls.into_iter().map(|Call { call, state, asked, decision }| {
            // Whatever was not decided is not done.
            PendingCall { call, state, asked, decision: decision.unwrap_or(Decision::Denied(None)) }
        });
        (self.messages.into_iter().map(Arc::new).collect(), pending.collect(), self.view)
    }
}
