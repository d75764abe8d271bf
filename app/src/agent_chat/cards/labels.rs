//! Labels for tool calls: their name, status and short description.

use super::sub_agent_output::SubAgentOutput;
use super::tool_name::tool_label;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::Shape;
use serde_json::Value;
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;
use wire::{CutOff, ToolPart, ToolState};

/// The maximum length of a short description, in bytes.
const MAX_DETAIL: usize = 80;

/// The name of a call: its title, the sub-agent that it calls, or the name of the tool.
pub(in crate::agent_chat) fn call_label(tool: &ToolPart) -> String {
    match &tool.title {
        Some(title) if !title.is_empty() => text_with_code_points(title, TextKind::Prose).into_owned(),
        _ if tool.tool_name == UPDATE_PAGE_STATE => t(Text::FillInPage).to_owned(),
        _ if tool.tool_name == ASK_USER => t(Text::Question).to_owned(),
        _ => match SubAgentOutput::from_output(tool.output.as_ref()) {
            Some(agent) => agent.name(),
            None => tool_label(&tool.tool_name),
        },
    }
}

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent_chat) enum CallStatus {
    Running,
    Waiting,
    Denied,
    Failed,
    Done,
}

impl CallStatus {
    /// The value of the `data-state` attribute, which the style sheet uses.
    pub(in crate::agent_chat) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }

    /// The icon.
    pub(in crate::agent_chat) fn shape(self) -> Shape {
        match self {
            Self::Running => Shape::SPINNER,
            Self::Waiting => Shape::SHIELD,
            Self::Denied => Shape::DENIED,
            Self::Failed => Shape::WARNING,
            Self::Done => Shape::CHECK,
        }
    }
}

/// The status of a call, and its label.
pub(in crate::agent_chat) fn call_status(tool: &ToolPart) -> (CallStatus, &'static str) {
    use CallStatus::{Denied, Done, Failed, Running, Waiting};
    let is_question = tool.tool_name == ASK_USER;
    match (tool.state, SubAgentOutput::from_output(tool.output.as_ref())) {
        (ToolState::OutputAvailable, Some(agent)) => reported_status(agent.state()),
        // A decision about a call of the sub-agent does not end the sub-agent.
        (ToolState::ApprovalResponded, Some(_)) => (Running, t(Text::StateRunning)),
        (ToolState::InputStreaming, _) => (Running, t(Text::StatePreparing)),
        (ToolState::InputAvailable, _) => (Running, t(Text::StateRunning)),
        (ToolState::ApprovalRequested, _) if tool.cut_off().is_some() => (Waiting, t(Text::StateCutOff)),
        (ToolState::ApprovalRequested, _) => (Waiting, t(Text::StateNeedsApproval)),
        (ToolState::OutputError, _) if tool.repeats_on_continue() => (Failed, t(Text::StateCutOff)),
        (ToolState::ApprovalResponded, _) if tool.cut_off() == Some(CutOff::Again) => (Running, t(Text::StateRunning)),
        (ToolState::OutputDenied, _) if tool.cut_off().is_some() => (Denied, t(Text::StateSkipped)),
        (ToolState::ApprovalResponded, _) if is_approved(tool) => (Running, t(Text::StateApproved)),
        (ToolState::OutputDenied, _) if is_expired(tool) => (Denied, t(Text::StateExpired)),
        (ToolState::OutputDenied, _) if tool.is_passed_over() => (Denied, t(Text::StateNotAnswered)),
        (ToolState::ApprovalResponded | ToolState::OutputDenied, _) => (Denied, t(Text::StateDenied)),
        (ToolState::OutputAvailable, _) if tool.preliminary == Some(true) => (Running, t(Text::StateRunning)),
        (ToolState::OutputAvailable, _) if is_question => (Done, t(Text::StateAnswered)),
        (ToolState::OutputAvailable, _) => (Done, t(Text::StateDone)),
        (ToolState::OutputError, _) if is_question => (Denied, t(Text::StateNotAnswered)),
        (ToolState::OutputError, _) => (Failed, t(Text::StateFailed)),
    }
}

/// The status that a sub-agent, or one of its steps, reports, and its label.
pub(in crate::agent_chat) fn reported_status(state: &str) -> (CallStatus, &'static str) {
    match state {
        "running" => (CallStatus::Running, t(Text::StateRunning)),
        "waiting" => (CallStatus::Waiting, t(Text::StateNeedsApproval)),
        "denied" => (CallStatus::Denied, t(Text::StateDenied)),
        "stopped" => (CallStatus::Denied, t(Text::StateStopped)),
        "limit" => (CallStatus::Denied, t(Text::StateLimit)),
        "failed" => (CallStatus::Failed, t(Text::StateFailed)),
        _ => (CallStatus::Done, t(Text::StateDone)),
    }
}

/// The label of an approval request of a sub-agent; none if the call does not wait for one.
pub(in crate::agent_chat) fn sub_agent_request(tool: &ToolPart) -> Option<String> {
    let (name, _) = SubAgentOutput::from_output(tool.output.as_ref())?.pending_call()?;
    Some(fill(Text::AgentWants, &[&call_label(tool), &name]))
}

/// The first argument of a call, if it is a short text; otherwise empty.
pub(in crate::agent_chat) fn first_argument(input: Option<&Value>) -> String {
    short_text(input.and_then(|input| input.as_object()?.values().next()))
}

/// A text, if it is short; otherwise empty.
pub(in crate::agent_chat) fn short_text(text: Option<&Value>) -> String {
    let text = text.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if text.len() <= MAX_DETAIL && !text.contains('\n') { text.to_owned() } else { String::new() }
}

/// Whether the request for approval has expired.
pub(in crate::agent_chat) fn is_expired(tool: &ToolPart) -> bool {
    tool.approval.as_ref().is_some_and(|approval| approval.expired == Some(true))
}

fn is_approved(tool: &ToolPart) -> bool {
    tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(true))
}
