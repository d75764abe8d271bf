//! Tools in words.

use super::session::PAGE_STATE_TOOL;
use wire::question::ASK_USER;
use wire::{ToolPart, ToolState};

/// What a call is called: its title, or the tool's name in words.
pub(super) fn tool_name(tool: &ToolPart) -> String {
    match &tool.title {
        Some(title) if !title.is_empty() => title.clone(),
        _ if tool.tool_name == PAGE_STATE_TOOL => "Fill in the page".to_owned(),
        _ if tool.tool_name == ASK_USER => "Question".to_owned(),
        _ => crate::page_state::words(&tool.tool_name),
    }
}

/// How a call stands.
pub(super) fn tool_state(tool: &ToolPart) -> &'static str {
    match tool.state {
        ToolState::InputStreaming => "Preparing…",
        ToolState::InputAvailable => "Running…",
        ToolState::ApprovalRequested => "Needs your approval",
        ToolState::ApprovalResponded if is_approved(tool) => "Approved",
        ToolState::ApprovalResponded | ToolState::OutputDenied => "Denied",
        ToolState::OutputAvailable if tool.preliminary == Some(true) => "Running…",
        ToolState::OutputAvailable if tool.tool_name == ASK_USER => "Answered",
        ToolState::OutputAvailable => "Done",
        ToolState::OutputError if tool.tool_name == ASK_USER => "Not answered",
        ToolState::OutputError => "Failed",
    }
}

fn is_approved(tool: &ToolPart) -> bool {
    tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(true))
}
