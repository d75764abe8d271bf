//! Audit log entries: one for each tool call, created where the call ends. Most calls end within
//! their run, which an [`Auditor`] watches; others end by a user's answer, a new message, the end
//! of the run, or recovery.

mod outside_run;

pub(crate) use outside_run::{answered, expired, interrupted, interrupted_below, is_open, passed_over};

use crate::stream::live::RunIdentity;
use agent::{Decision, Event, Grant, Ruling};
use contract::{Exposure, Part, ToolCall, ToolError, mask};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Instant;
use store::{AuditEntry, AuditOutcome, Gate, GateDecision, GateVerdict};
use tokio_util::sync::CancellationToken;
use transcript::exposure;
use wire::{Approval, ToolPart};

/// The reasons for refused arguments. They differ from what the model reads, because that may
/// repeat the arguments.
const NO_SUCH_TOOL: &str = "There is no such tool.";
const NO_OBJECT: &str = "The arguments are not a JSON object.";
const UNFIT: &str = "The arguments do not fit the tool.";
const NOT_ANY_MORE: &str = "The tool or its parameters changed before the user decided.";

/// The user, agent, conversation, message and run to which audited calls belong.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    pub(crate) user_id: String,
    pub(crate) agent_id: String,
    pub(crate) conversation_id: String,
    pub(crate) message_id: String,
    pub(crate) run_id: String,
}

/// How a call ended.
struct CallEnd {
    outcome: AuditOutcome,
    duration_ms: Option<i64>,
}

impl CallEnd {
    /// Creates the end of a call that did not run here.
    fn not_run(outcome: AuditOutcome) -> Self {
        Self { outcome, duration_ms: None }
    }
}

impl RunContext {
    /// Creates the subject for the calls of a run.
    pub(crate) fn for_run(identity: &RunIdentity, agent_id: &str) -> Self {
        Self {
            user_id: identity.owner.clone(),
            agent_id: agent_id.to_owned(),
            conversation_id: identity.conversation_id.clone(),
            message_id: identity.message_id.clone(),
            run_id: identity.run_id.clone(),
        }
    }

    fn entry(&self, call_id: &str, call: AuditedCall, end: CallEnd) -> AuditEntry {
        AuditEntry {
            at: crate::now(),
            user_id: self.user_id.clone(),
            agent_id: call.agent_id.unwrap_or_else(|| self.agent_id.clone()),
            conversation_id: self.conversation_id.clone(),
            message_id: self.message_id.clone(),
            run_id: self.run_id.clone(),
            call_id: if call.is_repeated { self.repeated_call_id(call_id) } else { call_id.to_owned() },
            tool: mask::cut(&call.tool),
            arguments: call.arguments,
            gates: call.gates,
            outcome: end.outcome,
            duration_ms: end.duration_ms,
        }
    }

    fn part_entry(&self, tool: &ToolPart, gates: Vec<GateDecision>, outcome: AuditOutcome) -> AuditEntry {
        let input = tool.input.as_ref().or(tool.raw_input.as_ref()).unwrap_or(&Value::Null);
        let call =
            AuditedCall { gates, is_repeated: tool.cut_off().is_some(), ..AuditedCall::new(&tool.tool_name, input) };
        self.entry(&tool.tool_call_id, call, CallEnd::not_run(outcome))
    }

    /// Returns the id under which a repeated call is logged. The interrupted call has an entry of
    /// its own.
    fn repeated_call_id(&self, call_id: &str) -> String {
        format!("{call_id}:{}", self.run_id)
    }

    /// Returns the gate decisions that an approval request and its decision amount to.
    fn approval(&self, approval: Option<&Approval>) -> Vec<GateDecision> {
        let Some(approval) = approval else { return Vec::new() };
        let decided = approval.approved.map(|approved| self.decided(approved, approval.reason.as_deref()));
        let why = approval.terms.as_ref().and_then(|terms| terms.exposed.as_ref());
        let asked = asked_about(why.map(|wire::Exposure { private, untrusted }| (private, untrusted)));
        [asked].into_iter().chain(decided).collect()
    }

    /// Returns the decision of a standing approval, with its id.
    fn granted(&self, grant: &Grant) -> GateDecision {
        self.decided(true, Some(&format!("standing approval {}", grant.id)))
    }

    fn decided(&self, approved: bool, reason: Option<&str>) -> GateDecision {
        let decision = if approved { GateVerdict::Approved } else { GateVerdict::Denied };
        GateDecision { gate: Gate::Approval, decision, by: Some(self.user_id.clone()), reason: reason.map(mask::cut) }
    }
}

fn milliseconds(since: Instant) -> i64 {
    i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)
}

fn asked() -> GateDecision {
    GateDecision { gate: Gate::Approval, decision: GateVerdict::Asked, by: None, reason: None }
}

/// Creates an approval request with its reason, if the tool could send out private data after the
/// agent has read text from outside.
fn asked_about(why: Option<(&Option<String>, &Option<String>)>) -> GateDecision {
    let reason = match why {
        Some((Some(private), Some(untrusted))) => Some(mask::cut(&exposure::reason(private, untrusted))),
        _ => None,
    };
    GateDecision { reason, ..asked() }
}

fn refused(gate: Gate, reason: &str) -> GateDecision {
    GateDecision { gate, decision: GateVerdict::Refused, by: None, reason: Some(mask::cut(reason)) }
}

/// Creates the decision to repeat an interrupted call.
fn repeated() -> GateDecision {
    GateDecision { gate: Gate::Execution, decision: GateVerdict::Repeated, by: None, reason: None }
}

/// Converts a ruling of the agent's policy.
fn ruled(ruling: &Ruling) -> GateDecision {
    match ruling {
        Ruling::Deny(reason) => refused(Gate::Policy, reason),
        Ruling::Ask | Ruling::Allow => GateDecision { gate: Gate::Policy, ..asked() },
    }
}

/// A call that has not ended.
#[derive(Clone)]
struct AuditedCall {
    /// The agent, if a sub-agent made the call.
    agent_id: Option<String>,
    tool: String,
    arguments: Value,
    gates: Vec<GateDecision>,
    /// Whether an earlier run made the call and the user has decided on it since.
    is_decided: bool,
    /// Whether the call was interrupted in that earlier run.
    is_repeated: bool,
    started: Option<Instant>,
}

impl AuditedCall {
    fn new(tool: &str, input: &Value) -> Self {
        let (tool, arguments) = (tool.to_owned(), mask::arguments(input));
        Self {
            agent_id: None,
            tool,
            arguments,
            gates: Vec::new(),
            is_decided: false,
            is_repeated: false,
            started: None,
        }
    }
}

/// Watches the calls of one run and creates their audit entries.
pub(crate) struct Auditor {
    subject: RunContext,
    /// The token that stops the run.
    cancel: CancellationToken,
    calls: HashMap<String, AuditedCall>,
}

impl Auditor {
    pub(crate) fn new(subject: RunContext, cancel: CancellationToken) -> Self {
        Self { subject, cancel, calls: HashMap::new() }
    }

    /// Records a call that the user has decided on.
    fn expect(
        &mut self,
        (call, decision): (&ToolCall, &Decision),
        agent_id: Option<&str>,
        exposed: Option<&Exposure>,
        is_repeated: bool,
    ) {
        let asked = || asked_about(exposed.map(|Exposure { private, untrusted }| (private, untrusted)));
        let mut gates = match decision {
            Decision::Approved => vec![asked(), self.subject.decided(true, None)],
            Decision::Denied(reason) => vec![asked(), self.subject.decided(false, reason.as_deref())],
            Decision::Again { .. } => Vec::new(),
        };
        if is_repeated && !matches!(decision, Decision::Denied(_)) {
            gates.push(repeated());
        }
        let agent_id = agent_id.map(str::to_owned);
        let known = AuditedCall::new(&call.name, &call.input);
        self.calls.insert(call.id.clone(), AuditedCall { agent_id, gates, is_decided: true, is_repeated, ..known });
    }

    /// Records an event. Returns the entry of the call that ends with it, if any. `agent_id` is set
    /// for calls of a sub-agent.
    pub(crate) fn record(&mut self, event: &Event, agent_id: Option<&str>) -> Option<AuditEntry> {
        let below = || agent_id.map(str::to_owned);
        match event {
            Event::ToolCall { call, .. } => {
                let known = AuditedCall { agent_id: below(), ..AuditedCall::new(&call.name, &call.input) };
                self.calls.insert(call.id.clone(), known);
                None
            }
            Event::ToolCallInvalid { id, name, input, dynamic, .. } => {
                let reason = if *dynamic {
                    NO_SUCH_TOOL
                } else if input.is_object() {
                    UNFIT
                } else {
                    NO_OBJECT
                };
                let gates = vec![refused(Gate::Schema, reason)];
                let call = AuditedCall { agent_id: below(), gates, ..AuditedCall::new(name, input) };
                Some(self.subject.entry(id, call, CallEnd::not_run(AuditOutcome::Refused)))
            }
            Event::CallDecided { call, decision, exposed, cut_off } => {
                self.expect((call, decision), agent_id, exposed.as_ref(), *cut_off);
                None
            }
            Event::CallRuled { call_id, ruling } => {
                self.calls.get_mut(call_id)?.gates.push(ruled(ruling));
                None
            }
            Event::CallGranted { call_id, grant, .. } => {
                let granted = self.subject.granted(grant);
                self.calls.get_mut(call_id)?.gates.push(granted);
                None
            }
            Event::ApprovalRequest { call_id, terms, .. } => {
                let why = terms.exposed.as_ref().map(|Exposure { private, untrusted }| (private, untrusted));
                self.calls.get_mut(call_id)?.gates.push(asked_about(why));
                None
            }
            Event::ToolStarted { call_id, .. } => {
                self.calls.get_mut(call_id)?.started = Some(Instant::now());
                None
            }
            // A suspended call is not running.
            Event::ToolSuspended { call_id, .. } => {
                self.calls.get_mut(call_id)?.started = None;
                None
            }
            Event::ToolFinished { call_id, result, stopped, .. } => {
                let call = self.calls.remove(call_id)?;
                Some(self.finished(call_id, call, result, *stopped || self.cancel.is_cancelled()))
            }
            Event::ToolDenied { call_id, reason } => {
                let mut call = self.calls.remove(call_id)?;
                if !call.is_decided {
                    // Nobody could be asked.
                    let denied = GateDecision { by: None, ..self.subject.decided(false, reason.as_deref()) };
                    call.gates.push(denied);
                }
                Some(self.subject.entry(call_id, call, CallEnd::not_run(AuditOutcome::Denied)))
            }
            // A provider runs its own tools.
            Event::Part(Part::ToolResult { id, name, is_error, .. }) => {
                let call = self.calls.remove(id).unwrap_or_else(|| AuditedCall::new(name, &Value::Null));
                let outcome = if *is_error { AuditOutcome::Error } else { AuditOutcome::Ok };
                Some(self.subject.entry(id, call, CallEnd::not_run(outcome)))
            }
            _ => None,
        }
    }

    /// Returns the decisions so far on a call that has not ended.
    pub(crate) fn gates(&self, call_id: &str) -> Vec<GateDecision> {
        self.calls.get(call_id).map(|call| call.gates.clone()).unwrap_or_default()
    }

    /// Returns entries for the calls of sub-agents that still run when their parent call has ended,
    /// since no event will report their end.
    pub(crate) fn interrupt_below(&mut self, above: &str) -> Vec<AuditEntry> {
        let is_below = |id: &str| id.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
        self.interrupt(is_below)
    }

    /// Returns the entry of a call that is about to run, in case it is interrupted.
    pub(crate) fn if_interrupted(&self, call_id: &str) -> Option<AuditEntry> {
        let call = self.calls.get(call_id)?.clone();
        Some(self.subject.entry(call_id, call, CallEnd::not_run(AuditOutcome::Interrupted)))
    }

    /// Returns entries for all calls of sub-agents that still run when the run ends.
    pub(crate) fn interrupt_all_below(&mut self) -> Vec<AuditEntry> {
        self.interrupt(|id| id.contains('/'))
    }

    fn interrupt(&mut self, is_meant: impl Fn(&str) -> bool) -> Vec<AuditEntry> {
        let mut cut_off: Vec<_> = self
            .calls
            .extract_if(|id, call| call.agent_id.is_some() && call.started.is_some() && is_meant(id))
            .collect();
        cut_off.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let entry = |(id, call): (String, AuditedCall)| {
            let duration_ms = call.started.map(milliseconds);
            self.subject.entry(&id, call, CallEnd { outcome: AuditOutcome::Interrupted, duration_ms })
        };
        cut_off.into_iter().map(entry).collect()
    }

    fn finished(
        &self,
        id: &str,
        mut call: AuditedCall,
        result: &Result<Value, ToolError>,
        stopped: bool,
    ) -> AuditEntry {
        let Some(started) = call.started else {
            let is_ruled =
                call.gates.iter().any(|gate| gate.gate == Gate::Policy && gate.decision == GateVerdict::Refused);
            match result {
                _ if is_ruled => {}
                Err(error) if !call.is_decided => call.gates.push(refused(Gate::Limit, &error.message)),
                _ => call.gates.push(refused(Gate::Schema, NOT_ANY_MORE)),
            }
            return self.subject.entry(id, call, CallEnd::not_run(AuditOutcome::Refused));
        };
        let outcome = match result {
            Ok(_) => AuditOutcome::Ok,
            Err(_) if stopped => AuditOutcome::Interrupted,
            Err(_) => AuditOutcome::Error,
        };
        let duration_ms = Some(milliseconds(started));
        self.subject.entry(id, call, CallEnd { outcome, duration_ms })
    }
}
