//! Audit rows: one for each tool call, made where the call ends. Most calls end in their run, which an [`Auditor`] watches;
//! a user's answer, a new message, the end of a run and recovery end the others.

use crate::live::RunIdentity;
use crate::mask;
use agent::{Decision, Event, Ruling};
use contract::{Part, ToolCall, ToolError};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Instant;
use store::{AuditEntry, AuditOutcome, Gate, GateDecision, GateVerdict};
use tokio_util::sync::CancellationToken;
use wire::api::Answer;
use wire::{Approval, ToolPart, ToolState, UiMessage};

/// Why arguments were refused. Not in the words that the model reads: those may repeat the arguments.
const NO_SUCH_TOOL: &str = "There is no such tool.";
const NO_OBJECT: &str = "The arguments are not a JSON object.";
const UNFIT: &str = "The arguments do not fit the tool.";
const NOT_ANY_MORE: &str = "The tool or what it takes changed before the user had decided.";

/// Whose calls these are.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) user_id: String,
    pub(crate) agent_id: String,
    pub(crate) conversation_id: String,
    pub(crate) message_id: String,
    pub(crate) run_id: String,
}

/// How a call ended.
struct End {
    outcome: AuditOutcome,
    duration_ms: Option<i64>,
}

impl End {
    /// Of a call that did not run here.
    fn of(outcome: AuditOutcome) -> Self {
        Self { outcome, duration_ms: None }
    }
}

impl Subject {
    /// The calls of a run.
    pub(crate) fn of(identity: &RunIdentity, agent_id: &str) -> Self {
        Self {
            user_id: identity.owner.clone(),
            agent_id: agent_id.to_owned(),
            conversation_id: identity.conversation_id.clone(),
            message_id: identity.message_id.clone(),
            run_id: identity.run_id.clone(),
        }
    }

    fn entry(&self, call_id: &str, call: Call, end: End) -> AuditEntry {
        AuditEntry {
            at: crate::now(),
            user_id: self.user_id.clone(),
            agent_id: self.agent_id.clone(),
            conversation_id: self.conversation_id.clone(),
            message_id: self.message_id.clone(),
            run_id: self.run_id.clone(),
            call_id: call_id.to_owned(),
            tool: mask::cut(&call.tool),
            arguments: call.arguments,
            gates: call.gates,
            outcome: end.outcome,
            duration_ms: end.duration_ms,
        }
    }

    fn of_part(&self, tool: &ToolPart, gates: Vec<GateDecision>, outcome: AuditOutcome) -> AuditEntry {
        let input = tool.input.as_ref().or(tool.raw_input.as_ref()).unwrap_or(&Value::Null);
        let call = Call { gates, ..Call::new(&tool.tool_name, input) };
        self.entry(&tool.tool_call_id, call, End::of(outcome))
    }

    /// What is known of the question to the user.
    fn approval(&self, approval: Option<&Approval>) -> Vec<GateDecision> {
        let Some(approval) = approval else { return Vec::new() };
        let decided = approval.approved.map(|approved| self.decided(approved, approval.reason.as_deref()));
        [asked()].into_iter().chain(decided).collect()
    }

    fn decided(&self, approved: bool, reason: Option<&str>) -> GateDecision {
        let decision = if approved { GateVerdict::Approved } else { GateVerdict::Denied };
        GateDecision { gate: Gate::Approval, decision, by: Some(self.user_id.clone()), reason: reason.map(mask::cut) }
    }
}

fn asked() -> GateDecision {
    GateDecision { gate: Gate::Approval, decision: GateVerdict::Asked, by: None, reason: None }
}

fn refused(gate: Gate, reason: &str) -> GateDecision {
    GateDecision { gate, decision: GateVerdict::Refused, by: None, reason: Some(mask::cut(reason)) }
}

/// What the agent's policy said.
fn ruled(ruling: &Ruling) -> GateDecision {
    match ruling {
        Ruling::Deny(reason) => refused(Gate::Policy, reason),
        Ruling::Ask | Ruling::Allow => GateDecision { gate: Gate::Policy, ..asked() },
    }
}

/// A call that has not ended.
struct Call {
    tool: String,
    arguments: Value,
    gates: Vec<GateDecision>,
    /// Made by an earlier run, and decided on since.
    is_decided: bool,
    started: Option<Instant>,
}

impl Call {
    fn new(tool: &str, input: &Value) -> Self {
        let (tool, arguments) = (tool.to_owned(), mask::arguments(input));
        Self { tool, arguments, gates: Vec::new(), is_decided: false, started: None }
    }
}

/// Watches the calls of one run.
pub(crate) struct Auditor {
    subject: Subject,
    calls: HashMap<String, Call>,
}

impl Auditor {
    pub(crate) fn new(subject: Subject) -> Self {
        Self { subject, calls: HashMap::new() }
    }

    /// Takes note of a call that the user has decided on.
    fn expect(&mut self, call: &ToolCall, decision: &Decision) {
        let decided = match decision {
            Decision::Approved => self.subject.decided(true, None),
            Decision::Denied(reason) => self.subject.decided(false, reason.as_deref()),
        };
        let known = Call::new(&call.name, &call.input);
        let known = Call { gates: vec![asked(), decided], is_decided: true, ..known };
        self.calls.insert(call.id.clone(), known);
    }

    /// Takes note of an event; when a call ends with it, answers with its row. `cancel` tells the
    /// run to end.
    pub(crate) fn see(&mut self, event: &Event, cancel: &CancellationToken) -> Option<AuditEntry> {
        match event {
            Event::ToolCall { call, .. } => {
                self.calls.insert(call.id.clone(), Call::new(&call.name, &call.input));
                None
            }
            Event::ToolCallInvalid { id, name, input, dynamic, .. } => {
                let reason = match dynamic {
                    true => NO_SUCH_TOOL,
                    false if input.is_object() => UNFIT,
                    false => NO_OBJECT,
                };
                let call = Call { gates: vec![refused(Gate::Schema, reason)], ..Call::new(name, input) };
                Some(self.subject.entry(id, call, End::of(AuditOutcome::Refused)))
            }
            Event::CallDecided { call, decision } => {
                self.expect(call, decision);
                None
            }
            Event::CallRuled { call_id, ruling } => {
                self.calls.get_mut(call_id)?.gates.push(ruled(ruling));
                None
            }
            Event::ApprovalRequest { call_id, .. } => {
                self.calls.get_mut(call_id)?.gates.push(asked());
                None
            }
            Event::ToolStarted { call_id, .. } => {
                self.calls.get_mut(call_id)?.started = Some(Instant::now());
                None
            }
            Event::ToolFinished { call_id, result, .. } => {
                let call = self.calls.remove(call_id)?;
                Some(self.finished(call_id, call, result, cancel.is_cancelled()))
            }
            Event::ToolDenied { call_id, .. } => {
                let call = self.calls.remove(call_id)?;
                Some(self.subject.entry(call_id, call, End::of(AuditOutcome::Denied)))
            }
            // The provider's own tools run there.
            Event::Part(Part::ToolResult { id, name, is_error, .. }) => {
                let call = self.calls.remove(id).unwrap_or_else(|| Call::new(name, &Value::Null));
                let outcome = if *is_error { AuditOutcome::Error } else { AuditOutcome::Ok };
                Some(self.subject.entry(id, call, End::of(outcome)))
            }
            _ => None,
        }
    }

    fn finished(&self, id: &str, mut call: Call, result: &Result<Value, ToolError>, stopped: bool) -> AuditEntry {
        let Some(started) = call.started else {
            let is_ruled =
                call.gates.iter().any(|gate| gate.gate == Gate::Policy && gate.decision == GateVerdict::Refused);
            match result {
                _ if is_ruled => {}
                Err(error) if !call.is_decided => call.gates.push(refused(Gate::Limit, &error.message)),
                _ => call.gates.push(refused(Gate::Schema, NOT_ANY_MORE)),
            }
            return self.subject.entry(id, call, End::of(AuditOutcome::Refused));
        };
        let outcome = match result {
            Ok(_) => AuditOutcome::Ok,
            Err(_) if stopped => AuditOutcome::Interrupted,
            Err(_) => AuditOutcome::Error,
        };
        let duration_ms = Some(i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX));
        self.subject.entry(id, call, End { outcome, duration_ms })
    }
}

/// Calls that the user's browser has run.
pub(crate) fn answered(subject: &Subject, message: &UiMessage, answers: &[Answer]) -> Vec<AuditEntry> {
    let answered = answers.iter().filter_map(|answer| {
        let (call_id, outcome) = match answer {
            Answer::Approval { .. } => return None,
            Answer::Output { tool_call_id, .. } => (tool_call_id, AuditOutcome::Ok),
            Answer::Error { tool_call_id, .. } => (tool_call_id, AuditOutcome::Error),
        };
        let tool = message.tools().rfind(|tool| tool.tool_call_id == *call_id)?;
        Some(subject.of_part(tool, subject.approval(tool.approval.as_ref()), outcome))
    });
    answered.collect()
}

/// Open calls of a message that the user turned away from: what was to be approved is not run; what the browser had, or
/// what came to its question half-way, may have had an effect. `why` is the user's turn in words.
pub(crate) fn passed_over(subject: &Subject, message: &UiMessage, why: &str) -> Vec<AuditEntry> {
    let open = message.tools().filter(|tool| is_open(tool));
    open.map(|tool| {
        let mut gates = subject.approval(tool.approval.as_ref());
        let Some(approval) = &tool.approval else { return subject.of_part(tool, gates, AuditOutcome::Interrupted) };
        if approval.approved != Some(false) {
            gates.push(subject.decided(false, Some(why)));
        }
        let outcome = if tool.output.is_some() { AuditOutcome::Interrupted } else { AuditOutcome::Denied };
        subject.of_part(tool, gates, outcome)
    })
    .collect()
}

/// Calls of a message that nobody goes on with. One that the user had denied was not run; of the others it is not known.
pub(crate) fn interrupted<'a>(subject: &Subject, tools: impl Iterator<Item = &'a ToolPart>) -> Vec<AuditEntry> {
    let open = tools.filter(|tool| is_open(tool));
    open.map(|tool| {
        let denied = tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(false));
        let denied = denied && tool.output.is_none();
        let outcome = if denied { AuditOutcome::Denied } else { AuditOutcome::Interrupted };
        subject.of_part(tool, subject.approval(tool.approval.as_ref()), outcome)
    })
    .collect()
}

/// Whether it is a call, and has not ended. While its arguments arrive it is none yet.
fn is_open(tool: &ToolPart) -> bool {
    !tool.is_final() && tool.state != ToolState::InputStreaming
}
