//! Tools in words: what a call is called, how it stands, what it is about.

use super::session::PAGE_STATE_TOOL;
use super::sub_agent::SubAgent;
use crate::icons::Shape;
use crate::texts::{Text, fill, t};
use crate::visible::{Kind, plain};
use serde_json::Value;
use wire::question::ASK_USER;
use wire::{CutOff, ToolPart, ToolState};

/// Of what a call is about at most this many bytes are shown.
const MAX_DETAIL: usize = 80;

/// What a call is called: its title, the agent that was asked, or the tool's name in words.
pub(super) fn tool_name(tool: &ToolPart) -> String {
    match &tool.title {
        Some(title) if !title.is_empty() => plain(title, Kind::Prose).into_owned(),
        _ if tool.tool_name == PAGE_STATE_TOOL => t(Text::FillInPage).to_owned(),
        _ if tool.tool_name == ASK_USER => t(Text::Question).to_owned(),
        _ => match SubAgent::of(tool.output.as_ref()) {
            Some(agent) => agent.name(),
            None => tool_words(&tool.tool_name),
        },
    }
}

/// The name of a tool in words.
pub(super) fn tool_words(name: &str) -> String {
    plain(&crate::page_state::words(name), Kind::Value).into_owned()
}

/// How a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Running,
    Waiting,
    Denied,
    Failed,
    Done,
}

impl Standing {
    /// For the style: how loud the card is.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }

    /// Its icon.
    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Running => Shape::Spinner,
            Self::Waiting => Shape::Shield,
            Self::Denied => Shape::Denied,
            Self::Failed => Shape::Warning,
            Self::Done => Shape::Check,
        }
    }
}

/// How a call stands, and that in words.
pub(super) fn tool_state(tool: &ToolPart) -> (Standing, &'static str) {
    use Standing::{Denied, Done, Failed, Running, Waiting};
    let is_question = tool.tool_name == ASK_USER;
    match (tool.state, SubAgent::of(tool.output.as_ref())) {
        (ToolState::OutputAvailable, Some(agent)) => told_state(agent.state()),
        // A decision about one of its calls ends none of its work.
        (ToolState::ApprovalResponded, Some(_)) => (Running, t(Text::StateRunning)),
        (ToolState::InputStreaming, _) => (Running, t(Text::StatePreparing)),
        (ToolState::InputAvailable, _) => (Running, t(Text::StateRunning)),
        (ToolState::ApprovalRequested, _) if tool.cut_off().is_some() => (Waiting, t(Text::StateCutOff)),
        (ToolState::ApprovalRequested, _) => (Waiting, t(Text::StateNeedsApproval)),
        (ToolState::OutputError, _) if tool.runs_again() => (Failed, t(Text::StateCutOff)),
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

/// The same of an agent or of one of its steps, which name their state.
pub(super) fn told_state(state: &str) -> (Standing, &'static str) {
    match state {
        "running" => (Standing::Running, t(Text::StateRunning)),
        "waiting" => (Standing::Waiting, t(Text::StateNeedsApproval)),
        "denied" => (Standing::Denied, t(Text::StateDenied)),
        "stopped" => (Standing::Denied, t(Text::StateStopped)),
        "limit" => (Standing::Denied, t(Text::StateLimit)),
        "failed" => (Standing::Failed, t(Text::StateFailed)),
        _ => (Standing::Done, t(Text::StateDone)),
    }
}

/// What a call waits for, if one of an agent's own calls waits for a decision.
pub(super) fn wish(tool: &ToolPart) -> Option<String> {
    let (name, _) = SubAgent::of(tool.output.as_ref())?.waiting()?;
    Some(fill(Text::AgentWants, &[&tool_name(tool), &name]))
}

/// A call in a few words: its first argument, if it is a short text.
pub(super) fn first_argument(input: Option<&Value>) -> String {
    short(input.and_then(|input| input.as_object()?.values().next()))
}

/// A text, if it is short.
pub(super) fn short(text: Option<&Value>) -> String {
    let text = text.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if text.len() <= MAX_DETAIL && !text.contains('\n') { text.to_owned() } else { String::new() }
}

/// Whether the time to decide about the call was up.
pub(super) fn is_expired(tool: &ToolPart) -> bool {
    tool.approval.as_ref().is_some_and(|approval| approval.expired == Some(true))
}

fn is_approved(tool: &ToolPart) -> bool {
    tool.approval.as_ref().is_some_and(|approval| approval.approved == Some(true))
}
