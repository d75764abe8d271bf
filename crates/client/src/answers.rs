//! Answers to pending calls in the form that the HTTP API expects: inside the message that contains
//! the calls.

use crate::{Answer, Error};
use wire::api::ConversationView;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart};

/// Returns the newest message with the answers filled in. The server ignores its other content.
pub(crate) fn fill_answers(conversation: &ConversationView, answers: &[Answer]) -> Result<UiMessage, Error> {
    let newest = conversation.messages.last().filter(|newest| newest.role == Role::Assistant);
    let mut message = newest.cloned().unwrap_or_else(|| UiMessage::new("", Role::Assistant));
    for answer in answers {
        let id = call_id(answer);
        let mut calls = message.parts.iter_mut().filter_map(|part| match part {
            UiPart::Tool(tool) => Some(&mut **tool),
            _ => None,
        });
        let call = calls.find(|call| call.tool_call_id == id && waits_for(call, answer));
        apply_answer(call.ok_or_else(|| Error::NotWaiting(id.to_owned()))?, answer);
    }
    Ok(message)
}

fn call_id(answer: &Answer) -> &str {
    match answer {
        Answer::Approval { tool_call_id, .. }
        | Answer::Started { tool_call_id, .. }
        | Answer::Output { tool_call_id, .. }
        | Answer::Error { tool_call_id, .. } => tool_call_id,
    }
}

fn waits_for(call: &ToolPart, answer: &Answer) -> bool {
    match answer {
        Answer::Approval { approval_id, .. } => {
            let is_open = |open: &wire::Approval| approval_id.as_ref().is_none_or(|id| *id == open.id);
            call.state == ToolState::ApprovalRequested && call.approval.as_ref().is_some_and(is_open)
        }
        Answer::Output { .. } | Answer::Error { .. } => call.state == ToolState::InputAvailable,
        // Claims are only for browser pages, several of which may show the same call.
        Answer::Started { .. } => false,
    }
}

fn apply_answer(call: &mut ToolPart, answer: &Answer) {
    match answer {
        Answer::Approval { approved, reason, .. } => {
            call.state = ToolState::ApprovalResponded;
            if let Some(approval) = &mut call.approval {
                approval.approved = Some(*approved);
                approval.reason.clone_from(reason);
            }
        }
        Answer::Output { output, .. } => {
            call.state = ToolState::OutputAvailable;
            call.output = Some(output.clone());
        }
        Answer::Error { error_text, .. } => {
            call.state = ToolState::OutputError;
            call.error_text = Some(error_text.clone());
        }
        Answer::Started { .. } => {}
    }
}
