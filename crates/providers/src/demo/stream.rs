//! What the model does as a stream of parts, word by word.

use super::plan::Action;
use contract::{AssistantPart, FinishReason, Message, ModelError, Part, Request, ToolCall, Usage, UserPart};
use futures::Stream;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Characters of a token, roughly.
const TOKEN: usize = 4;

/// The tokens of a reply, counted by length.
pub(crate) fn usage(request: &Request, actions: &[Action]) -> Usage {
    let tokens = |length: usize| length.div_ceil(TOKEN) as u64;
    let thought = actions.iter().map(|action| if let Action::Think(text) = action { text.len() } else { 0 }).sum();
    let said = actions.iter().map(|action| match action {
        Action::Think(_) => 0,
        Action::Say(text) => text.len(),
        Action::Call { tool, input } => tool.len() + input.to_string().len(),
    });
    let read = request.messages.iter().map(|message| length(message)).sum::<usize>();
    Usage {
        input_tokens: tokens(request.system.as_ref().map_or(0, String::len) + read),
        output_tokens: tokens(thought) + tokens(said.sum()),
        reasoning_tokens: tokens(thought),
        ..Usage::default()
    }
}

fn length(message: &Message) -> usize {
    match message {
        Message::System(text) => text.len(),
        Message::User(parts) => {
            parts.iter().map(|part| if let UserPart::Text { text } = part { text.len() } else { 0 }).sum()
        }
        Message::Assistant(parts) => parts.iter().map(said_length).sum(),
        Message::Tool(results) => results.iter().map(|result| result.output.to_text().len()).sum(),
    }
}

fn said_length(part: &AssistantPart) -> usize {
    match part {
        AssistantPart::Text { text, .. } => text.len(),
        AssistantPart::ToolCall(ToolCall { name, input, .. }) => name.len() + input.to_string().len(),
        // Thoughts do not go back, as with real models.
        AssistantPart::Reasoning { .. }
        | AssistantPart::File { .. }
        | AssistantPart::ToolResult(_)
        | AssistantPart::ProviderItem { .. } => 0,
    }
}

/// The parts of a reply.
pub(crate) fn parts(actions: Vec<Action>, usage: Usage) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut reason = FinishReason::Stop;
    for (at, action) in actions.into_iter().enumerate() {
        let id = at.to_string();
        match action {
            Action::Think(text) => think(&id, &text, &mut parts),
            Action::Say(text) => say(&id, &text, &mut parts),
            Action::Call { tool, input } => {
                reason = FinishReason::ToolCalls;
                call(tool, input.to_string(), &mut parts);
            }
        }
    }
    parts.push(Part::Finish { reason, raw_reason: None, usage, metadata: None });
    parts
}

fn think(id: &str, text: &str, parts: &mut Vec<Part>) {
    parts.push(Part::ReasoningStart { id: id.to_owned(), metadata: None });
    let delta = |word: &str| Part::ReasoningDelta { id: id.to_owned(), delta: word.to_owned(), metadata: None };
    parts.extend(words(text).map(delta));
    parts.push(Part::ReasoningEnd { id: id.to_owned(), metadata: None });
}

fn say(id: &str, text: &str, parts: &mut Vec<Part>) {
    parts.push(Part::TextStart { id: id.to_owned() });
    parts.extend(words(text).map(|word| Part::TextDelta { id: id.to_owned(), delta: word.to_owned() }));
    parts.push(Part::TextEnd { id: id.to_owned(), metadata: None, citations: Vec::new() });
}

/// The id is new each time: a call is known by it in the whole conversation, in all of its branches.
fn call(name: String, input: String, parts: &mut Vec<Part>) {
    let id = format!("demo_{}", uuid::Uuid::now_v7().simple());
    parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
    parts.extend(words(&input).map(|piece| Part::ToolInputDelta { id: id.clone(), delta: piece.to_owned() }));
    parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata: None });
}

/// Pieces that end with their white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// The parts at the model's pace.
pub(crate) fn paced(
    parts: Vec<Part>,
    delay: Duration,
    cancel: CancellationToken,
) -> impl Stream<Item = Result<Part, ModelError>> + Send {
    async_stream::stream! {
        for part in parts {
            let is_word =
                matches!(part, Part::TextDelta { .. } | Part::ReasoningDelta { .. } | Part::ToolInputDelta { .. });
            if is_word && !delay.is_zero() {
                // Either ends the wait; which one is asked below.
                let _ = tokio::time::timeout(delay, cancel.cancelled()).await;
            }
            if cancel.is_cancelled() {
                yield Err(crate::driver::stopped());
                return;
            }
            yield Ok(part);
        }
    }
}
