//! Converts the model's actions to a stream of parts, word by word.

use super::turn::DemoAction;
use contract::{FinishReason, ModelError, Part, Request, Usage, estimated_tokens};
use futures::Stream;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Estimates the tokens of a reply by length.
pub(crate) fn usage(request: &Request, actions: &[DemoAction]) -> Usage {
    let thought = actions.iter().map(|action| if let DemoAction::Think(text) = action { text.len() } else { 0 }).sum();
    let lengths = actions.iter().map(|action| match action {
        DemoAction::Think(_) => 0,
        DemoAction::Say(text) => text.len(),
        DemoAction::Call { tool, input } => tool.len() + input.to_string().len(),
    });
    let read = request.messages.iter().map(|message| message.text_length()).sum::<usize>();
    Usage {
        input_tokens: estimated_tokens(request.system.as_ref().map_or(0, String::len) + read),
        output_tokens: estimated_tokens(thought) + estimated_tokens(lengths.sum()),
        reasoning_tokens: estimated_tokens(thought),
        ..Usage::default()
    }
}

/// Returns the parts of a reply. `most` is the number of words after which the text is cut off, as a
/// provider does at its token limit.
pub(crate) fn parts(actions: Vec<DemoAction>, usage: Usage, most: Option<u32>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut reason = FinishReason::Stop;
    for (at, action) in actions.into_iter().enumerate() {
        let id = at.to_string();
        match action {
            DemoAction::Think(text) => think(&id, &text, &mut parts),
            DemoAction::Say(text) => {
                let most = most.map_or(usize::MAX, |most| most as usize);
                let said: String = words(&text).take(most).collect();
                say(&id, &said, &mut parts);
                if said.len() < text.len() {
                    reason = FinishReason::Length;
                    break;
                }
            }
            DemoAction::Call { tool, input } => {
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

/// Appends a tool call. Its id is unique, because it identifies the call in all branches of the
/// conversation.
fn call(name: String, input: String, parts: &mut Vec<Part>) {
    let id = format!("demo_{}", uuid::Uuid::now_v7().simple());
    parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
    parts.extend(words(&input).map(|piece| Part::ToolInputDelta { id: id.clone(), delta: piece.to_owned() }));
    parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata: None });
}

/// Splits a text into words with their trailing white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// Streams the parts with a delay after each word.
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
                // Both outcomes end the wait; cancellation is checked below.
                let _ = tokio::time::timeout(delay, cancel.cancelled()).await;
            }
            if cancel.is_cancelled() {
                yield Err(crate::driver::cancelled_error());
                return;
            }
            yield Ok(part);
        }
    }
}
