//! The state of a run without a conversation, from which any server continues it: after a decision, or
//! after the server that executed it died.

use crate::calls::outcome::output;
use crate::{Decision, Event, ExposureState, PendingCall, TurnUsage, waiting_nested_calls};
use contract::{ApprovalTerms, AssistantPart, Exposure, Message, ToolCall, ToolError, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The result of a call that had not begun when its server stopped.
const NOT_BEGUN: &str =
    "Not run: the server stopped before this call began. It had no effect. Call the tool again if it is still needed.";
/// The result of a task of a sub-agent that was interrupted. A task consists of many calls, so it is
/// not repeated as a whole.
const TASK_INTERRUPTED: &str =
    "The server stopped while the agent worked on this task. What it did so far remains in effect. Check it first.";

/// The state of a run: its messages, and the calls of the last reply with what is known of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoint {
    messages: Vec<Message>,
    calls: Vec<CallState>,
    usage: TurnUsage,
    exposure: Exposure,
    /// How often the answer was sent back because of its form.
    pub(super) corrections: u32,
}

/// The known state of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CallState {
    call: ToolCall,
    /// Whether the tool may have begun.
    #[serde(default)]
    has_started: bool,
    /// Whether it is the task of a sub-agent.
    #[serde(default)]
    is_task: bool,
    /// The result, or the message of the error.
    #[serde(default)]
    result: Option<Result<Value, String>>,
    /// Whether it was denied.
    #[serde(default)]
    denied: Option<Denial>,
    /// The terms of the request while it waits for a decision.
    #[serde(default)]
    asks: Option<ApprovalTerms>,
    /// The tool's fingerprint when the question was asked.
    #[serde(default)]
    fingerprint: Option<String>,
    /// The state of a sub-agent that is suspended.
    #[serde(default)]
    state: Option<Value>,
    #[serde(default)]
    decision: Option<Decision>,
    /// Whether it was interrupted.
    #[serde(default)]
    cut_off: bool,
}

/// A call was denied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Denial {
    reason: Option<String>,
}

/// A call that waits for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct RunQuestion {
    /// The id of the call that is decided on.
    pub call_id: String,
    /// The tool; of a sub-agent's call, the tool that it calls.
    pub tool: String,
    /// The arguments.
    pub input: Value,
    /// The terms.
    pub terms: ApprovalTerms,
}

/// The state from which a run continues.
#[derive(Default)]
pub(super) struct Continuation {
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) pending: Vec<PendingCall>,
    pub(super) usage: TurnUsage,
    pub(super) exposure: ExposureState,
    /// The result of a tool of `stopOnToolCall` that has run.
    pub(super) last_result: Option<Value>,
    pub(super) corrections: u32,
    /// The index of the first message of the turn.
    pub(super) turn_start: usize,
}

impl CallState {
    fn new(call: ToolCall) -> Self {
        Self {
            call,
            has_started: false,
            is_task: false,
            result: None,
            denied: None,
            asks: None,
            fingerprint: None,
            state: None,
            decision: None,
            cut_off: false,
        }
    }

    fn is_over(&self) -> bool {
        self.result.is_some() || self.denied.is_some()
    }

    fn output(&self) -> Option<ToolResult> {
        let output = match (&self.denied, &self.result) {
            (Some(denial), _) => contract::ToolOutput::Denied(denial.reason.clone()),
            (None, Some(Ok(value))) => output(&Ok(value.clone())),
            (None, Some(Err(error))) => output(&Err(ToolError::new(error.clone()))),
            (None, None) => return None,
        };
        let ToolCall { id, name, .. } = self.call.clone();
        Some(ToolResult { call_id: id, name, output, metadata: None })
    }
}

impl Checkpoint {
    /// The state after a reply with tool calls, none of which has run.
    pub(crate) fn new(
        messages: &[Arc<Message>],
        parts: &[AssistantPart],
        calls: &[ToolCall],
        usage: TurnUsage,
        exposure: &ExposureState,
    ) -> Self {
        let mut messages: Vec<_> = messages.iter().map(|message| Message::clone(message)).collect();
        let is_empty =
            |part: &AssistantPart| matches!(part, AssistantPart::Text { text, metadata: None } if text.is_empty());
        messages.push(Message::Assistant(parts.iter().filter(|part| !is_empty(part)).cloned().collect()));
        let calls = calls.iter().cloned().map(CallState::new).collect();
        Self { messages, calls, usage, exposure: exposure.snapshot(), corrections: 0 }
    }

    /// Adds what an event of the run says. Returns whether it changed anything.
    pub fn record(&mut self, event: &Event) -> bool {
        if let Event::Exposed { exposure } = event {
            self.exposure = exposure.clone();
            return true;
        }
        let (Event::ToolStarted { call_id, .. }
        | Event::ToolFinished { call_id, .. }
        | Event::ToolDenied { call_id, .. }
        | Event::ToolSuspended { call_id, .. }
        | Event::ApprovalRequest { call_id, .. }) = event
        else {
            return false;
        };
        let Some(known) = self.calls.iter_mut().find(|known| known.call.id == *call_id) else { return false };
        match event {
            Event::ToolStarted { repeat, .. } => {
                (known.has_started, known.is_task, known.asks) = (true, repeat.is_none(), None);
            }
            // The run is stopped, and the tool may have had its effect.
            Event::ToolFinished { result: Err(_), stopped: true, .. } => {}
            Event::ToolFinished { result, .. } => {
                known.result = Some(result.clone().map_err(|error| error.message));
                (known.asks, known.state) = (None, None);
            }
            Event::ToolDenied { reason, .. } => {
                (known.denied, known.asks) = (Some(Denial { reason: reason.clone() }), None);
            }
            Event::ToolSuspended { state, .. } => {
                (known.state, known.has_started, known.decision) = (Some(state.clone()), false, None);
            }
            Event::ApprovalRequest { asked, terms, .. } => {
                (known.asks, known.fingerprint, known.decision) = (Some(terms.clone()), asked.clone(), None);
                known.cut_off |= terms.cut_off;
            }
            _ => {}
        }
        true
    }

    /// Sets the usage of the turn when the run waits.
    pub fn set_usage(&mut self, usage: TurnUsage) {
        self.usage = usage;
    }

    /// Decides what becomes of the calls that a server was executing when it died. One that had begun
    /// is repeated if its tool is idempotent, and asked about otherwise; one that had not begun is
    /// reported to the model as not run.
    pub fn interrupt(&mut self) {
        for known in self.calls.iter_mut().filter(|known| !known.is_over() && known.asks.is_none()) {
            match (known.has_started, known.is_task) {
                (true, true) => known.result = Some(Err(TASK_INTERRUPTED.to_owned())),
                (true, false) => {
                    let approved = matches!(known.decision, Some(Decision::Approved));
                    known.decision = Some(Decision::Again { approved });
                    (known.cut_off, known.has_started, known.fingerprint) = (true, false, None);
                }
                // The decision was not carried out, and still holds.
                (false, _) if known.decision.is_some() => {}
                (false, _) => known.result = Some(Err(NOT_BEGUN.to_owned())),
            }
        }
    }

    /// Returns the calls that wait for a decision.
    pub fn questions(&self) -> Vec<RunQuestion> {
        let open = self.calls.iter().filter(|known| known.decision.is_none() && !known.is_over());
        let questions = open.filter_map(|known| {
            let terms = known.asks.clone()?;
            let call_id = known.call.id.clone();
            let within =
                known.state.as_ref().and_then(|state| waiting_nested_calls(&call_id, state).into_iter().next());
            let asked = within.map_or_else(|| known.call.clone(), |within| within.call);
            Some(RunQuestion { call_id, tool: asked.name, input: asked.input, terms })
        });
        questions.collect()
    }

    /// Stores the decision on a call that waits. Returns false if it does not wait.
    pub fn decide(&mut self, call_id: &str, decision: Decision) -> bool {
        let open = |known: &&mut CallState| {
            known.call.id == call_id && known.asks.is_some() && known.decision.is_none() && !known.is_over()
        };
        let Some(known) = self.calls.iter_mut().find(open) else { return false };
        known.decision = Some(decision);
        true
    }

    /// Returns what the run continues from. `ends_with` are the tools that end the turn.
    pub(super) fn into_continuation(self, ends_with: &[String]) -> Continuation {
        let Self { messages, calls, mut usage, exposure, corrections } = self;
        let mut messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
        let results: Vec<_> = calls.iter().filter_map(CallState::output).collect();
        if !results.is_empty() {
            messages.push(Arc::new(Message::Tool(results)));
        }
        let is_last = |known: &&CallState| ends_with.contains(&known.call.name);
        let last_result = calls.iter().rev().filter(is_last).find_map(|known| known.result.clone()?.ok());
        usage.is_last |= last_result.is_some();
        usage.last_has_run |= last_result.is_some();
        let open = calls.into_iter().filter(|known| !known.is_over());
        let pending = open.map(|known| PendingCall {
            // Without a decision it would not be a valid history.
            decision: known.decision.unwrap_or(Decision::Denied(None)),
            call: known.call,
            state: known.state,
            tool_fingerprint: known.fingerprint,
            grant: None,
            cut_off: known.cut_off,
        });
        Continuation {
            pending: pending.collect(),
            messages,
            usage,
            exposure: ExposureState::from(exposure),
            last_result,
            corrections,
            turn_start: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RepeatTerms;
    use serde_json::json;

    fn state() -> Checkpoint {
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            name: "pay".to_owned(),
            input: json!({ "n": id }),
            provider_executed: false,
            metadata: None,
        };
        let calls = [call("a"), call("b"), call("c")];
        let parts = calls.iter().cloned().map(AssistantPart::ToolCall).collect::<Vec<_>>();
        Checkpoint::new(&[], &parts, &calls, TurnUsage::default(), &ExposureState::default())
    }

    fn started(call_id: &str, is_task: bool) -> Event {
        let repeat = (!is_task).then(|| RepeatTerms { fingerprint: String::new(), is_idempotent: false });
        Event::ToolStarted { call_id: call_id.to_owned(), name: "pay".to_owned(), resumed: false, repeat }
    }

    fn finished(call_id: &str) -> Event {
        let (call_id, name, result) = (call_id.to_owned(), "pay".to_owned(), Ok(json!(1)));
        Event::ToolFinished { call_id, name, result, dynamic: false, stopped: false }
    }

    /// Returns what becomes of each call: its output, or the decision with which it goes on.
    fn outcome(state: Checkpoint) -> Vec<String> {
        let stored = serde_json::to_value(&state).unwrap();
        let state: Checkpoint = serde_json::from_value(stored).unwrap();
        let Continuation { messages, pending, .. } = state.into_continuation(&[]);
        let mut lines = Vec::new();
        if let Some(Message::Tool(results)) = messages.last().map(|message| &**message) {
            lines.extend(results.iter().map(|result| {
                let text: String = result.output.to_text().chars().take(11).collect();
                format!("{} {text}", result.call_id)
            }));
        }
        lines.extend(
            pending.iter().map(|pending| format!("{} {:?} {}", pending.call.id, pending.decision, pending.cut_off)),
        );
        lines
    }

    #[test]
    fn calls_of_a_dead_server_are_decided_by_how_far_they_were() {
        let check = |events: &[Event], expected: &[&str]| {
            let mut state = state();
            for event in events {
                state.record(event);
            }
            state.interrupt();
            assert_eq!(outcome(state), expected);
        };
        check(&[], &["a Not run: th", "b Not run: th", "c Not run: th"]);
        check(
            &[started("a", false), finished("a"), started("b", false)],
            &["a 1", "c Not run: th", "b Again { approved: false } true"],
        );
        check(&[started("a", true)], &["a The server ", "b Not run: th", "c Not run: th"]);
    }

    #[test]
    fn a_decision_survives_a_crash_before_it_is_carried_out() {
        let mut state = state();
        let terms = ApprovalTerms::default();
        for id in ["a", "b"] {
            state.record(&finished(id));
        }
        state.record(&Event::ApprovalRequest { call_id: "c".to_owned(), asked: Some("f".to_owned()), terms });
        assert_eq!(state.questions().len(), 1);
        state.interrupt();
        assert_eq!(state.questions().len(), 1, "a question waits on");
        assert!(!state.decide("a", Decision::Approved), "it has ended");
        assert!(state.decide("c", Decision::Approved));
        assert!(!state.decide("c", Decision::Denied(None)), "it is decided");
        state.interrupt();
        assert_eq!(outcome(state.clone()), ["a 1", "b 1", "c Approved false"]);
        state.record(&started("c", false));
        state.interrupt();
        assert_eq!(outcome(state), ["a 1", "b 1", "c Again { approved: true } true"]);
    }
}
