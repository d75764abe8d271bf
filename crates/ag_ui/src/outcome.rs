//! The events at the beginning and at the end of a run.

use crate::event::{Event, RunOutcome, Usage};
use crate::input::RunAgentInput;
use crate::{interrupts, messages};
use wire::api::{MessageMetadata, Outcome, TokenUsage};
use wire::{ToolState, UiMessage};

/// Returns the event with all messages of a branch.
pub(crate) fn snapshot(branch: &[UiMessage]) -> Event {
    Event::MessagesSnapshot { messages: messages::of_branch(branch).into_iter().map(|(_, message)| message).collect() }
}

/// Returns the events with which a frontend loads a thread. The client of AG-UI keeps the order of the messages that it
/// has and adds the others at the end, so it forgets them first.
pub(crate) fn load(input: &RunAgentInput, branch: &[UiMessage]) -> Vec<Event> {
    let mut events = vec![snapshot(branch)];
    if !input.messages.is_empty() {
        events.insert(0, snapshot(&[]));
    }
    events
}

/// Returns the event of a run that has failed; `code` is for programs.
pub(crate) fn failure(message: String, code: Option<&str>) -> Event {
    Event::RunError { message, code: code.map(str::to_owned) }
}

/// Returns whether an answer waits for the user or the frontend.
pub(crate) fn is_waiting(message: &UiMessage) -> bool {
    MessageMetadata::from_message(message).outcome == Some(Outcome::Waiting)
}

/// Returns how a run has ended, with what the frontend has to answer.
pub(crate) fn outcome_of(ended: Outcome, message: &UiMessage) -> RunOutcome {
    let interrupts = interrupts::of_message(message);
    match ended {
        Outcome::Stopped => RunOutcome::Cancelled,
        Outcome::Waiting if !interrupts.is_empty() => RunOutcome::Interrupt { interrupts },
        _ => {
            let open = message.tools().filter(|tool| tool.state == ToolState::InputAvailable);
            RunOutcome::Success { pending_tool_call_ids: open.map(|tool| tool.tool_call_id.clone()).collect() }
        }
    }
}

/// Returns the usage of a run itself.
pub(crate) fn since(now: TokenUsage, before: TokenUsage, model: Option<String>) -> Usage {
    let input_tokens = now.input_tokens.saturating_sub(before.input_tokens);
    let output_tokens = now.output_tokens.saturating_sub(before.output_tokens);
    Usage {
        model,
        input_tokens,
        output_tokens,
        total_tokens: input_tokens.saturating_add(output_tokens),
        reasoning_tokens: now.reasoning_tokens.saturating_sub(before.reasoning_tokens),
        cached_input_tokens: now.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_input_tokens: now.cache_write_tokens.saturating_sub(before.cache_write_tokens),
    }
}
