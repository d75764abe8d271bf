//! A plan as a stream of parts, word by word.

use super::plan::{Plan, spoken};
use contract::{FinishReason, ModelError, ModelErrorKind, Part, Request, Usage};
use futures::Stream;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Characters of a token, roughly.
const TOKEN: usize = 4;

/// The tokens of a reply, counted by length.
pub(crate) fn usage(request: &Request, plan: Option<&Plan>) -> Usage {
    let thought = plan.map_or(0, |plan| plan.thinks.len() / TOKEN) as u64;
    let said = plan.map_or(0, |plan| plan.says.len() / TOKEN) as u64;
    Usage {
        input_tokens: (spoken(request) / TOKEN) as u64 + 1,
        output_tokens: thought + said + 1,
        reasoning_tokens: thought,
        ..Usage::default()
    }
}

/// The parts of a plan.
pub(crate) fn parts(plan: &Plan, usage: Usage) -> Vec<Part> {
    let id = |name: &str| name.to_owned();
    let mut parts = vec![Part::ReasoningStart { id: id("thinks"), metadata: None }];
    let thoughts = words(&plan.thinks).map(|word| Part::ReasoningDelta {
        id: id("thinks"),
        delta: word.to_owned(),
        metadata: None,
    });
    parts.extend(thoughts);
    parts.push(Part::ReasoningEnd { id: id("thinks"), metadata: None });
    parts.push(Part::TextStart { id: id("says") });
    parts.extend(words(&plan.says).map(|word| Part::TextDelta { id: id("says"), delta: word.to_owned() }));
    parts.push(Part::TextEnd { id: id("says"), metadata: None });
    let mut reason = FinishReason::Stop;
    if let Some((name, input)) = &plan.calls {
        reason = FinishReason::ToolCalls;
        call(name, &input.to_string(), &mut parts);
    }
    parts.push(Part::Finish { reason, raw_reason: None, usage, metadata: None });
    parts
}

fn call(name: &str, input: &str, parts: &mut Vec<Part>) {
    let mut hasher = DefaultHasher::new();
    (name, input).hash(&mut hasher);
    let id = format!("demo-{:08x}", hasher.finish() as u32);
    parts.push(Part::ToolInputStart { id: id.clone(), name: name.to_owned(), provider_executed: false });
    parts.extend(words(input).map(|piece| Part::ToolInputDelta { id: id.clone(), delta: piece.to_owned() }));
    parts.push(Part::ToolCall {
        id,
        name: name.to_owned(),
        input: input.to_owned(),
        provider_executed: false,
        metadata: None,
    });
}

/// Pieces that end with their white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// The parts at the pace of the model.
pub(crate) fn paced(
    parts: Vec<Part>,
    delay: Duration,
    cancel: CancellationToken,
) -> impl Stream<Item = Result<Part, ModelError>> + Send {
    async_stream::stream! {
        for part in parts {
            let is_word = matches!(part, Part::TextDelta { .. } | Part::ReasoningDelta { .. } | Part::ToolInputDelta { .. });
            if is_word && !delay.is_zero() {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => {
                        yield Err(ModelError::new(ModelErrorKind::Cancelled, "stopped"));
                        return;
                    }
                    () = tokio::time::sleep(delay) => {}
                }
            }
            yield Ok(part);
        }
    }
}
