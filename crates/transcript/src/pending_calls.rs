//! Updates pending calls in a stored message: records decisions and outputs, and closes calls that
//! a new message supersedes.

use crate::to_prompt;
use agent::{Decision, PendingCall, TurnUsage};
use serde_json::Value;
use wire::api::{Answer, MessageMetadata};
use wire::message::PASSED_OVER;
use wire::{
    Approval, CutOff, EndReason, ErrorCode, SPENT, SUSPENDED_CALL, ToolPart, ToolState, UiMessage, UiPart, UserError,
};

const NOT_WAITING: &str = "This is no longer waiting for an answer. Reload the conversation to see its current state.";
const OTHER_ARGUMENTS: &str =
    "The arguments changed after this page showed them, so nothing was done. Review them again, then decide.";
const ELSEWHERE: &str = "Another page is already running this.";
const TOO_LATE: &str = "The time to decide ran out, so this was not done. Ask the agent again if you still want it.";

/// Returns whether the call waits for the user or the user's browser.
pub fn is_pending(tool: &ToolPart) -> bool {
    tool.provider_executed != Some(true)
        && matches!(tool.state, ToolState::InputAvailable | ToolState::ApprovalRequested)
}

/// Returns whether the user has decided on the call and the loop has not acted on it yet.
pub fn is_decided(tool: &ToolPart) -> bool {
    tool.state == ToolState::ApprovalResponded
}

/// Records answers in the message. Only calls that are pending in the server's record can be
/// answered. `now` is Unix time in milliseconds.
///
/// # Errors
/// 409 for a decision on other arguments than those of the call, 422 for a call that does not wait for
/// this answer, that another page runs, or whose arguments may not be changed like this.
pub fn record_answers(message: &mut UiMessage, answers: &[Answer], now: i64) -> Result<(), UserError> {
    for (at, answer) in answers.iter().enumerate() {
        let (call_id, state) = match answer {
            Answer::Approval { tool_call_id, .. } => (tool_call_id, ToolState::ApprovalRequested),
            Answer::Started { tool_call_id, .. }
            | Answer::Output { tool_call_id, .. }
            | Answer::Error { tool_call_id, .. } => (tool_call_id, ToolState::InputAvailable),
        };
        let tool =
            message.tool_mut(call_id).ok_or_else(|| UserError::invalid(format!("/answers/{at}"), NOT_WAITING))?;
        if !is_pending(tool) || tool.state != state {
            let is_expired = tool.approval.as_ref().is_some_and(|approval| approval.expired == Some(true));
            let message = if is_expired { TOO_LATE } else { NOT_WAITING };
            return Err(UserError::invalid(format!("/answers/{at}"), message));
        }
        if let Answer::Approval { approval_id: Some(id), .. } = answer
            && tool.approval.as_ref().is_none_or(|open| open.id != *id)
        {
            let message = "The agent is asking something else now. Review the question again.";
            return Err(UserError::invalid(format!("/answers/{at}/approvalId"), message));
        }
        if let Answer::Approval { approved: true, input_hash: Some(hash), .. } = answer
            && *hash != wire::arguments_hash(tool.asked_arguments().unwrap_or(&Value::Null))
        {
            let error = UserError::new(ErrorCode::Conflict, OTHER_ARGUMENTS);
            return Err(UserError { path: Some(format!("/answers/{at}/inputHash")), ..error });
        }
        if let Answer::Started { by, .. } = answer
            && tool.claimed_by().is_some_and(|runner| runner != by)
        {
            return Err(UserError::invalid(format!("/answers/{at}"), ELSEWHERE));
        }
        if let Answer::Approval { input: Some(input), .. } = answer {
            check_changed(tool, input)
                .map_err(|message| UserError::invalid(format!("/answers/{at}/input"), message))?;
        }
        enter_one(tool, answer, now);
    }
    Ok(())
}

/// Checks whether the user may replace the agent's arguments by these. The arguments themselves are
/// validated when the call runs.
fn check_changed(tool: &ToolPart, input: &Value) -> Result<(), &'static str> {
    if tool.cut_off().is_some() {
        return Err("An interrupted call can only be repeated with the same arguments.");
    }
    if tool.output.is_some() {
        return Err("The arguments of a sub-agent's call cannot be changed, only approved or denied.");
    }
    let Some(input) = input.as_object() else { return Err("The arguments must be a JSON object.") };
    match tool.visible_parameters() {
        Some(visible) if input.keys().any(|key| !visible.contains(key)) => {
            Err("Only the arguments that are shown first can be changed.")
        }
        _ => Ok(()),
    }
}

fn enter_one(tool: &mut ToolPart, answer: &Answer, now: i64) {
    match answer {
        Answer::Approval { approved, reason, input, .. } => {
            tool.state = ToolState::ApprovalResponded;
            if let Some(input) = input.as_ref().filter(|_| *approved) {
                tool.change_input(input);
            }
            let approval = tool.approval.take().unwrap_or_else(|| Approval::new(""));
            tool.approval = Some(Approval { approved: Some(*approved), reason: reason.clone(), ..approval });
        }
        // Repeating a claim changes nothing.
        Answer::Started { by, .. } if tool.claimed_by().is_none() => tool.claim(by, now),
        Answer::Started { .. } => {}
        Answer::Output { output, .. } => {
            tool.state = ToolState::OutputAvailable;
            tool.output = Some(output.clone());
        }
        Answer::Error { error_text, .. } => {
            tool.state = ToolState::OutputError;
            tool.error_text = Some(error_text.clone());
        }
    }
}

/// Returns the calls that the user has decided on, which the loop handles first.
pub fn decided_calls(message: &UiMessage) -> Vec<PendingCall> {
    let decided = message.tools().filter(|tool| is_decided(tool));
    decided
        .map(|tool| {
            let approval = tool.approval.as_ref();
            let decision = match approval.and_then(|approval| approval.approved) {
                Some(true) => Decision::Approved,
                _ => Decision::Denied(approval.and_then(|approval| approval.reason.clone())),
            };
            pending(message, tool, decision)
        })
        .collect()
}

fn pending(message: &UiMessage, tool: &ToolPart, decision: Decision) -> PendingCall {
    PendingCall {
        call: to_prompt::tool_call(tool),
        decision,
        state: suspended_state(message, &tool.tool_call_id),
        tool_fingerprint: tool.approval.as_ref().and_then(|approval| approval.terms.as_ref()?.tool.clone()),
        grant: None,
        cut_off: tool.cut_off().is_some(),
    }
}

/// Reopens interrupted calls that the new run repeats, with or without the user's approval. Returns
/// those that need no approval.
pub fn reopen_interrupted(message: &mut UiMessage) -> Vec<PendingCall> {
    let unasked = message.tools().filter(|tool| tool.repeats_on_continue());
    let unasked = unasked.map(|tool| {
        let approved = tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(true));
        pending(message, tool, Decision::Again { approved })
    });
    let unasked: Vec<_> = unasked.collect();
    for part in &mut message.parts {
        let UiPart::Tool(tool) = part else { continue };
        let is_wanted = tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(true));
        let is_decided = is_decided(tool) && is_wanted && tool.cut_off().is_some();
        if tool.repeats_on_continue() {
            tool.state = ToolState::ApprovalResponded;
            tool.error_text = None;
        } else if !is_decided {
            continue;
        }
        tool.set_cut_off(CutOff::Again);
    }
    unasked
}

/// Returns whether a decision on the call's approval request can be acted on. A suspended call
/// needs a stored state that waits for this decision.
pub fn is_answerable(message: &UiMessage, tool: &ToolPart) -> bool {
    let Some(shown) = &tool.output else { return true };
    let stored = suspended_state(message, &tool.tool_call_id);
    stored.is_some_and(|state| state.pointer("/view/waiting") == shown.get("waiting"))
}

/// Removes the state of suspended calls that are decided. It is for one run only: after that run,
/// even after a crash in the middle, a call must not resume from the same state again.
pub fn forget_suspended(message: &mut UiMessage, pending: &[PendingCall]) {
    let is_decided = |id: &str| pending.iter().any(|pending| pending.call.id == id);
    message.parts.retain(|part| match part {
        UiPart::Data(data) if data.kind == SUSPENDED_CALL => !data.id.as_deref().is_some_and(is_decided),
        _ => true,
    });
}

/// Returns the usage of the message's turn when it last started to wait; zero if it never waited.
/// It stays in the message until the turn ends, so that a run after a crash continues counting.
pub fn stored_usage(message: &UiMessage) -> TurnUsage {
    let found = message.parts.iter().find_map(|part| match part {
        UiPart::Data(data) if data.kind == SPENT => Some(data.data.clone()),
        _ => None,
    });
    found.and_then(|data| serde_json::from_value(data).ok()).unwrap_or_default()
}

/// Removes the stored usage, because the turn has ended.
pub fn remove_usage(message: &mut UiMessage) {
    message.parts.retain(|part| !matches!(part, UiPart::Data(data) if data.kind == SPENT));
}

/// Records results that come with a new message of the user, which ends the turn of the calls.
///
/// # Errors
/// The errors of [`record_answers`].
pub fn record_results(message: &mut UiMessage, results: &[Answer], now: i64) -> Result<(), UserError> {
    record_answers(message, results, now)?;
    remove_usage(message);
    note_replaced(message);
    Ok(())
}

/// Records that the user continued without answering.
fn note_replaced(message: &mut UiMessage) {
    let known = message.metadata.take().and_then(|metadata| serde_json::from_value::<MessageMetadata>(metadata).ok());
    let metadata = MessageMetadata { reason: Some(EndReason::Replaced), ..known.unwrap_or_default() };
    message.metadata = serde_json::to_value(metadata).ok();
}

/// Returns the state from which a suspended call resumes.
pub fn suspended_state(message: &UiMessage, call_id: &str) -> Option<Value> {
    let found = message.parts.iter().find_map(|part| match part {
        UiPart::Data(data) if data.kind == SUSPENDED_CALL && data.id.as_deref() == Some(call_id) => Some(&data.data),
        _ => None,
    });
    found.filter(|state| !state.is_null()).cloned()
}

/// Closes every open call because the user continued without answering; returns whether there was
/// one.
pub fn supersede(message: &mut UiMessage) -> bool {
    let mut superseded = false;
    for part in &mut message.parts {
        let UiPart::Tool(tool) = part else { continue };
        if tool.is_final() {
            continue;
        }
        superseded = true;
        match tool.approval.take() {
            // The browser had received the call, so it may have run.
            Some(approval) if tool.state == ToolState::InputAvailable => {
                tool.state = ToolState::OutputError;
                tool.error_text = Some(PASSED_OVER.to_owned());
                tool.approval = Some(approval);
            }
            // The user had denied this call, and other calls were still undecided.
            Some(approval) if approval.approved == Some(false) => {
                tool.state = ToolState::OutputDenied;
                tool.approval = Some(approval);
            }
            Some(approval) => {
                tool.state = ToolState::OutputDenied;
                let reason = approval.reason.or_else(|| Some(PASSED_OVER.to_owned()));
                tool.approval = Some(Approval { approved: Some(false), reason, passed_over: Some(true), ..approval });
            }
            None => {
                tool.state = ToolState::OutputError;
                tool.error_text = Some(PASSED_OVER.to_owned());
            }
        }
    }
    if superseded {
        remove_usage(message);
        note_replaced(message);
    }
    superseded
}
