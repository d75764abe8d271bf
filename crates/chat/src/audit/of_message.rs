//! Rows of calls that end outside of a run: by a user's answer, by a new message or none in time, by recovery.

use super::{Call, End, Subject, asked, repeated};
use crate::{expiry, settle};
use agent::waiting_within;
use store::{AuditEntry, AuditOutcome, CallBelow, Gate, GateDecision, GateVerdict};
use wire::api::Answer;
use wire::question::ASK_USER;
use wire::{Approval, CutOff, ToolPart, ToolState, UiMessage};

/// Where a call ran.
const IN_BROWSER: &str = "in the user's browser";

/// Calls that the user's browser has run.
pub(crate) fn answered(subject: &Subject, message: &UiMessage, answers: &[Answer]) -> Vec<AuditEntry> {
    let answered = answers.iter().filter_map(|answer| {
        let (call_id, outcome) = match answer {
            Answer::Approval { .. } | Answer::Started { .. } => return None,
            Answer::Output { tool_call_id, .. } => (tool_call_id, AuditOutcome::Ok),
            Answer::Error { tool_call_id, .. } => (tool_call_id, AuditOutcome::Error),
        };
        let tool = message.tools().rfind(|tool| tool.tool_call_id == *call_id)?;
        let gates = subject.approval(tool.approval.as_ref()).into_iter().chain(in_browser(tool));
        let row = subject.of_part(tool, gates.collect(), outcome);
        let duration_ms = tool.began_at().map(|began| row.at.saturating_sub(began).max(0));
        Some(AuditEntry { duration_ms, ..row })
    });
    answered.collect()
}

/// That a call ran in the user's browser, which says so itself. A question is answered by the user.
fn in_browser(tool: &ToolPart) -> Option<GateDecision> {
    let (gate, decision, reason) = (Gate::Execution, GateVerdict::Delegated, Some(IN_BROWSER.to_owned()));
    (tool.tool_name != ASK_USER).then_some(GateDecision { gate, decision, by: None, reason })
}

/// Open calls of a message that the user turned away from: what was to be approved is not run; what the browser had, or
/// what came to its question half-way, may have had an effect. `why` is the user's turn in words.
pub(crate) fn passed_over(subject: &Subject, message: &UiMessage, why: &str) -> Vec<AuditEntry> {
    let open = message.tools().filter(|tool| is_open(tool));
    open.flat_map(|tool| match &tool.approval {
        // The user's own no needs no other one.
        Some(Approval { approved: Some(false), .. }) => closed(subject, message, tool, None),
        // The user had said yes, and the browser had it.
        Some(approval) if tool.state == ToolState::InputAvailable => {
            vec![subject.of_part(tool, subject.approval(Some(approval)), AuditOutcome::Interrupted)]
        }
        Some(_) => closed(subject, message, tool, Some(subject.decided(false, Some(why)))),
        None => vec![subject.of_part(tool, Vec::new(), AuditOutcome::Interrupted)],
    })
    .collect()
}

/// Calls whose question nobody decided on in time.
pub(crate) fn expired(subject: &Subject, message: &UiMessage, now: i64) -> Vec<AuditEntry> {
    let due = message.tools().filter(|tool| expiry::is_due(tool, now));
    let no = GateDecision { by: None, ..subject.decided(false, Some(expiry::NOT_IN_TIME)) };
    due.flat_map(|tool| closed(subject, message, tool, Some(no.clone()))).collect()
}

/// A call whose question is closed with this no, and the calls within it that waited.
fn closed(subject: &Subject, message: &UiMessage, tool: &ToolPart, no: Option<GateDecision>) -> Vec<AuditEntry> {
    let gates = subject.approval(tool.approval.as_ref()).into_iter().chain(no.clone());
    let outcome = if tool.output.is_some() { AuditOutcome::Interrupted } else { AuditOutcome::Denied };
    let above = subject.of_part(tool, gates.collect(), outcome);
    let state = settle::suspended(message, &tool.tool_call_id);
    let within = state.map(|state| waiting_within(&tool.tool_call_id, &state)).unwrap_or_default();
    let within = within.into_iter().map(|within| {
        let gates = [asked()].into_iter().chain(no.clone()).collect();
        let call = Call { agent_id: Some(within.agent_id), gates, ..Call::new(&within.call.name, &within.call.input) };
        subject.entry(&within.call.id, call, End::of(AuditOutcome::Denied))
    });
    within.chain([above]).collect()
}

/// Calls of a message that nobody goes on with. One that the user had denied was not run; of the others it is not known.
pub(crate) fn interrupted<'a>(subject: &Subject, tools: impl Iterator<Item = &'a ToolPart>) -> Vec<AuditEntry> {
    let open = tools.filter(|tool| is_open(tool));
    open.map(|tool| {
        let denied = tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(false));
        let denied = denied && tool.output.is_none();
        let outcome = if denied { AuditOutcome::Denied } else { AuditOutcome::Interrupted };
        subject.of_part(tool, gates(subject, tool), outcome)
    })
    .collect()
}

/// What had been decided about a call that ran: of one that was made once more without a question, that.
fn gates(subject: &Subject, tool: &ToolPart) -> Vec<GateDecision> {
    let is_decided = tool.approval.as_ref().is_some_and(|approval| approval.approved.is_some());
    let asked = tool.approval.as_ref().filter(|_| is_decided || tool.cut_off().is_none());
    let again = (tool.cut_off() == Some(CutOff::Again)).then(repeated);
    subject.approval(asked).into_iter().chain(again).collect()
}

/// Calls of agents below that ran when nobody was left to tell how they end. No message holds them: they come out of the ledger, by the
/// names that they have there.
pub(crate) fn interrupted_below(subject: &Subject, running: Vec<CallBelow>) -> Vec<AuditEntry> {
    let (above, run) = (format!("{}:", subject.message_id), format!(":{}", subject.run_id));
    let entry = |call: CallBelow| {
        let id = call.call_id.strip_prefix(&above).unwrap_or(&call.call_id);
        let id = id.strip_suffix(&run).unwrap_or(id);
        let known = Call { agent_id: Some(call.agent_id), gates: call.gates, ..Call::new(&call.name, &call.input) };
        subject.entry(id, known, End::of(AuditOutcome::Interrupted))
    };
    running.into_iter().map(entry).collect()
}

/// Whether it is a call, and has not ended. While its arguments arrive it is none yet.
pub(crate) fn is_open(tool: &ToolPart) -> bool {
    !tool.is_final() && tool.state != ToolState::InputStreaming
}
