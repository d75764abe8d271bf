//! Audit entries for calls that end outside of a run: by a user's answer, a new message, expiry, or
//! recovery.

use super::{AuditedCall, CallEnd, RunContext, asked, repeated};
use crate::submit::expiry;
use agent::waiting_nested_calls;
use store::{AuditEntry, AuditOutcome, Gate, GateDecision, GateVerdict, SubAgentCall};
use transcript::pending_calls;
use wire::api::Answer;
use wire::question::ASK_USER;
use wire::{Approval, CutOff, ToolPart, ToolState, UiMessage};

/// The location of a call, for the audit log.
const IN_BROWSER: &str = "in the user's browser";

/// Returns entries for the calls that ran in the user's browser.
pub(crate) fn answered(subject: &RunContext, message: &UiMessage, answers: &[Answer]) -> Vec<AuditEntry> {
    let answered = answers.iter().filter_map(|answer| {
        let (call_id, outcome) = match answer {
            Answer::Approval { .. } | Answer::Started { .. } => return None,
            Answer::Output { tool_call_id, .. } => (tool_call_id, AuditOutcome::Ok),
            Answer::Error { tool_call_id, .. } => (tool_call_id, AuditOutcome::Error),
        };
        let tool = message.tools().rfind(|tool| tool.tool_call_id == *call_id)?;
        let gates = subject.approval(tool.approval.as_ref()).into_iter().chain(in_browser(tool));
        let row = subject.part_entry(tool, gates.collect(), outcome);
        let duration_ms = tool.claimed_at().map(|began| row.at.saturating_sub(began).max(0));
        Some(AuditEntry { duration_ms, ..row })
    });
    answered.collect()
}

/// Returns the decision that a call ran in the user's browser, as reported by the browser. Answers
/// to questions come from the user and have none.
fn in_browser(tool: &ToolPart) -> Option<GateDecision> {
    let (gate, decision, reason) = (Gate::Execution, GateVerdict::Delegated, Some(IN_BROWSER.to_owned()));
    (tool.tool_name != ASK_USER).then_some(GateDecision { gate, decision, by: None, reason })
}

/// Returns entries for the open calls of a message that the user left. A call that awaited approval
/// did not run; one that the browser had, or that requested approval half-way, may have had an
/// effect. `why` describes what the user did instead.
pub(crate) fn passed_over(subject: &RunContext, message: &UiMessage, why: &str) -> Vec<AuditEntry> {
    let open = message.tools().filter(|tool| is_open(tool));
    open.flat_map(|tool| match &tool.approval {
        // The user has denied the call already.
        Some(Approval { approved: Some(false), .. }) => closed(subject, message, tool, None),
        // The user had approved, and the browser had received the call.
        Some(approval) if tool.state == ToolState::InputAvailable => {
            vec![subject.part_entry(tool, subject.approval(Some(approval)), AuditOutcome::Interrupted)]
        }
        Some(_) => closed(subject, message, tool, Some(subject.decided(false, Some(why)))),
        None => vec![subject.part_entry(tool, Vec::new(), AuditOutcome::Interrupted)],
    })
    .collect()
}

/// Returns entries for the calls whose approval request expired.
pub(crate) fn expired(subject: &RunContext, message: &UiMessage, now: i64) -> Vec<AuditEntry> {
    let due = message.tools().filter(|tool| expiry::is_due(tool, now));
    let no = GateDecision { by: None, ..subject.decided(false, Some(expiry::NOT_IN_TIME)) };
    due.flat_map(|tool| closed(subject, message, tool, Some(no.clone()))).collect()
}

/// Returns entries for a call that is closed with this decision, and for the nested calls that
/// waited in it.
fn closed(subject: &RunContext, message: &UiMessage, tool: &ToolPart, no: Option<GateDecision>) -> Vec<AuditEntry> {
    let gates = subject.approval(tool.approval.as_ref()).into_iter().chain(no.clone());
    let outcome = if tool.output.is_some() { AuditOutcome::Interrupted } else { AuditOutcome::Denied };
    let above = subject.part_entry(tool, gates.collect(), outcome);
    let state = pending_calls::suspended_state(message, &tool.tool_call_id);
    let within = state.map(|state| waiting_nested_calls(&tool.tool_call_id, &state)).unwrap_or_default();
    let within = within.into_iter().map(|within| {
        let gates = [asked()].into_iter().chain(no.clone()).collect();
        let call = AuditedCall {
            agent_id: Some(within.agent_id),
            gates,
            ..AuditedCall::new(&within.call.name, &within.call.input)
        };
        subject.entry(&within.call.id, call, CallEnd::not_run(AuditOutcome::Denied))
    });
    within.chain([above]).collect()
}

/// Returns entries for the calls of a message that will not continue. A denied call did not run;
/// for the others this is unknown.
pub(crate) fn interrupted<'a>(subject: &RunContext, tools: impl Iterator<Item = &'a ToolPart>) -> Vec<AuditEntry> {
    let open = tools.filter(|tool| is_open(tool));
    open.map(|tool| {
        let denied = tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(false));
        let denied = denied && tool.output.is_none();
        let outcome = if denied { AuditOutcome::Denied } else { AuditOutcome::Interrupted };
        subject.part_entry(tool, gates(subject, tool), outcome)
    })
    .collect()
}

/// Returns the decisions on a call that ran. For one that was repeated without an approval, this is
/// the repetition only.
fn gates(subject: &RunContext, tool: &ToolPart) -> Vec<GateDecision> {
    let is_decided = tool.approval.as_ref().is_some_and(|approval| approval.approved.is_some());
    let asked = tool.approval.as_ref().filter(|_| is_decided || tool.cut_off().is_none());
    let again = (tool.cut_off() == Some(CutOff::Again)).then(repeated);
    subject.approval(asked).into_iter().chain(again).collect()
}

/// Returns entries for the calls of sub-agents that were running when their server died. Messages
/// do not contain these calls, so they come from the ledger, with the ids they have there.
pub(crate) fn interrupted_below(subject: &RunContext, running: Vec<SubAgentCall>) -> Vec<AuditEntry> {
    let (above, run) = (format!("{}:", subject.message_id), format!(":{}", subject.run_id));
    let entry = |call: SubAgentCall| {
        let id = call.call_id.strip_prefix(&above).unwrap_or(&call.call_id);
        let id = id.strip_suffix(&run).unwrap_or(id);
        let known = AuditedCall {
            agent_id: Some(call.agent_id),
            gates: call.gates,
            ..AuditedCall::new(&call.name, &call.input)
        };
        subject.entry(id, known, CallEnd::not_run(AuditOutcome::Interrupted))
    };
    running.into_iter().map(entry).collect()
}

/// Returns whether the call is open. A call whose arguments are still arriving does not count.
pub(crate) fn is_open(tool: &ToolPart) -> bool {
    !tool.is_final() && tool.state != ToolState::InputStreaming
}
