//! Chat Completions chunks → parts, without I/O.

use super::api::{Chunk, Delta, ToolCall, Usage as ApiUsage};
use crate::http::{Codec, broken};
use contract::{FinishReason, ModelError, ModelErrorKind, Part, Usage};
use serde_json::Value;

/// Arguments of one call, in bytes.
const MAX_INPUT: usize = 1024 * 1024;
/// Calls of one reply.
const MAX_CALLS: usize = 1_000;

const TEXT: &str = "text";
const REASONING: &str = "reasoning";

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    in_text: bool,
    in_reasoning: bool,
    calls: Vec<Call>,
    finish_reason: Option<String>,
    usage: Option<ApiUsage>,
    complete: bool,
}

struct Call {
    index: u64,
    id: String,
    name: String,
    input: String,
}

impl Codec for Reader {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.finish(parts);
            return Ok(());
        }
        let chunk: Chunk<'_> =
            serde_json::from_str(data).map_err(|error| broken(format!("a chunk cannot be read: {error}")))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(failure(&error));
        }
        let usage = chunk.usage.or_else(|| chunk.x_groq.and_then(|groq| groq.usage));
        self.usage = usage.or(self.usage.take());
        for choice in chunk.choices.into_iter().take(1) {
            if let Some(reason) = choice.finish_reason {
                self.finish_reason = Some(reason.into());
            }
            if let Some(delta) = choice.delta {
                self.delta(delta, parts)?;
            }
        }
        Ok(())
    }

    /// Some gateways leave out `[DONE]`; a finish reason is an end, too.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if !self.complete && self.finish_reason.is_none() {
            return Err(broken("the stream ended before a finish reason"));
        }
        self.finish(parts);
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.complete
    }
}

impl Reader {
    fn delta(&mut self, delta: Delta<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let reasoning = delta.reasoning_content.or(delta.reasoning).filter(|text| !text.is_empty());
        if let Some(text) = reasoning {
            if !self.in_reasoning {
                self.in_reasoning = true;
                parts.push(Part::ReasoningStart { id: REASONING.to_owned(), metadata: None });
            }
            parts.push(Part::ReasoningDelta { id: REASONING.to_owned(), delta: text.into(), metadata: None });
        }
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.end_reasoning(parts);
            if !self.in_text {
                self.in_text = true;
                parts.push(Part::TextStart { id: TEXT.to_owned() });
            }
            parts.push(Part::TextDelta { id: TEXT.to_owned(), delta: text.into() });
        }
        for (at, call) in delta.tool_calls.unwrap_or_default().into_iter().enumerate() {
            self.end_reasoning(parts);
            self.call(at as u64, call, parts)?;
        }
        Ok(())
    }

    /// A piece of a call. It belongs to the call with its index, or without one to the call with its id; a piece that has
    /// neither belongs to the newest call unless it names a tool.
    fn call(&mut self, at: u64, piece: ToolCall<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let id = piece.id.filter(|id| !id.is_empty());
        let (name, arguments) = piece.function.map(|function| (function.name, function.arguments)).unwrap_or_default();
        let name = name.filter(|name| !name.is_empty());
        let known = match (piece.index, &id) {
            (Some(index), id) => self.calls.iter().position(|call| {
                // Some gateways give every whole call the index 0.
                call.index == index && id.as_ref().is_none_or(|id| call.id == **id || name.is_none())
            }),
            (None, Some(id)) => self.calls.iter().position(|call| call.id == **id),
            (None, None) if name.is_none() => self.calls.len().checked_sub(1),
            (None, None) => None,
        };
        let place = match known {
            Some(place) => place,
            None => {
                self.begin(piece.index.unwrap_or(at), id.map(Into::into), name.unwrap_or_default().into(), parts)?
            }
        };
        let call = &mut self.calls[place];
        if let Some(json) = arguments.filter(|json| !json.is_empty()) {
            if call.input.len() + json.len() > MAX_INPUT {
                return Err(broken("a call's arguments are too large"));
            }
            call.input.push_str(&json);
            parts.push(Part::ToolInputDelta { id: call.id.clone(), delta: json.into() });
        }
        Ok(())
    }

    fn begin(
        &mut self,
        index: u64,
        id: Option<String>,
        name: String,
        parts: &mut Vec<Part>,
    ) -> Result<usize, ModelError> {
        if self.calls.len() >= MAX_CALLS {
            return Err(broken("too many tool calls in one reply"));
        }
        let id = id.unwrap_or_else(|| format!("call_{}", uuid::Uuid::now_v7().simple()));
        parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
        self.calls.push(Call { index, id, name, input: String::new() });
        Ok(self.calls.len() - 1)
    }

    fn end_reasoning(&mut self, parts: &mut Vec<Part>) {
        if std::mem::take(&mut self.in_reasoning) {
            parts.push(Part::ReasoningEnd { id: REASONING.to_owned(), metadata: None });
        }
    }

    fn finish(&mut self, parts: &mut Vec<Part>) {
        if std::mem::replace(&mut self.complete, true) {
            return;
        }
        self.end_reasoning(parts);
        if std::mem::take(&mut self.in_text) {
            parts.push(Part::TextEnd { id: TEXT.to_owned(), metadata: None });
        }
        for Call { id, name, input, .. } in self.calls.drain(..) {
            parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata: None });
        }
        let raw_reason = self.finish_reason.take();
        let reason = match raw_reason.as_deref() {
            Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
            _ => FinishReason::Other,
        };
        parts.push(Part::Finish { reason, raw_reason, usage: usage(self.usage.take()), metadata: None });
    }
}

fn usage(usage: Option<ApiUsage>) -> Usage {
    let Some(usage) = usage else { return Usage::default() };
    // A float that does not fit saturates; a negative one becomes 0.
    let tokens = |count: Option<f64>| count.map_or(0, |count| count as u64);
    Usage {
        input_tokens: tokens(usage.prompt_tokens),
        output_tokens: tokens(usage.completion_tokens),
        cache_read_tokens: tokens(usage.prompt_tokens_details.and_then(|details| details.cached_tokens)),
        cache_write_tokens: 0,
        reasoning_tokens: tokens(usage.completion_tokens_details.and_then(|details| details.reasoning_tokens)),
    }
}

/// An error in the stream: the status is in `code`, if anywhere.
fn failure(error: &Value) -> ModelError {
    let code = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
    let kind = match code {
        Some(401 | 403) => ModelErrorKind::Unauthorized,
        Some(429) => ModelErrorKind::RateLimited,
        Some(400..500) => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    };
    let mut cause = error.to_string();
    cause.truncate(cause.floor_char_boundary(2_000));
    ModelError::new(kind, cause)
}
