//! Decodes the chunks of Chat Completions to parts, without I/O.

use super::PROVIDER;
use super::api::{Choice, Chunk, Delta, Usage as ApiUsage};
use super::calls::ToolCallAssembler;
use super::think_tags::{Segment, ThinkTagParser};
use crate::driver::{Codec, reported_error, stream_error};
use crate::json::{self, parse_error};
use crate::lenient::TokenCount;
use contract::{FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};

/// Decodes one reply.
#[derive(Default)]
pub(crate) struct ChatCodec {
    open: Option<OpenPart>,
    /// The number of texts and reasoning parts so far; the source of their ids.
    part_count: u64,
    calls: ToolCallAssembler,
    think_tags: ThinkTagParser,
    has_refusal: bool,
    finish_reason: Option<String>,
    usage: ApiUsage,
    is_complete: bool,
}

/// The text or reasoning part that is open.
struct OpenPart {
    id: String,
    is_text: bool,
}

impl Codec for ChatCodec {
    fn decode_event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            return self.finish(parts);
        }
        if !json::has_object(data)? {
            return Ok(());
        }
        let mut spare = String::new();
        let chunk: Chunk<'_> = json::parse(data, &mut spare).map_err(|error| parse_error("a chunk", &error))?;
        let (usage_of_groq, error_of_groq) = chunk.x_groq.map(|groq| (groq.usage, groq.error)).unwrap_or_default();
        if let Some(error) = chunk.error.or(error_of_groq).filter(|error| !error.is_null()) {
            return Err(model_error(&error));
        }
        if let (true, Some(message)) = (chunk.choices.is_absent(), chunk.message) {
            return Err(model_error(&message.into()));
        }
        self.usage = chunk.usage.or(usage_of_groq).unwrap_or(self.usage);
        match chunk.choices.list("choices")?.first() {
            Some(first) => match json::object_entry(first, "choices")? {
                Some(choice) => self.read_choice(choice, parts),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Some gateways omit `[DONE]`; a finish reason completes the reply, too.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { self.finish(parts) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl ChatCodec {
    fn read_choice(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let (mut spare, mut spare_delta) = (String::new(), String::new());
        let choice: Choice<'_> = json::parse(raw, &mut spare).map_err(|error| parse_error("a chunk", &error))?;
        // Some gateways send an empty one in each chunk.
        let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        self.finish_reason = reason.or(self.finish_reason.take());
        match choice.delta.object("delta")? {
            Some(raw) => {
                let delta = json::parse(raw, &mut spare_delta).map_err(|error| parse_error("`delta`", &error))?;
                self.read_delta(delta, parts)
            }
            None => Ok(()),
        }
    }

    fn read_delta(&mut self, delta: Delta<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if !delta.reasoning_content.text.is_empty() {
            self.push_reasoning(delta.reasoning_content.text, "reasoning_content", parts);
        } else if !delta.reasoning.text.is_empty() {
            self.push_reasoning(delta.reasoning.text, "reasoning", parts);
        }
        if !delta.content.thinking.is_empty() {
            self.push_reasoning(delta.content.thinking, "content", parts);
        }
        if !delta.content.text.is_empty() {
            let mut pieces = Vec::new();
            self.think_tags.push(delta.content.text, &mut pieces);
            self.push_segments(pieces, parts);
        }
        if !delta.refusal.text.is_empty() {
            self.has_refusal = true;
            self.push_text(delta.refusal.text, parts);
        }
        for piece in delta.tool_calls.list("tool_calls")? {
            let Some(piece) = json::object_entry(piece, "tool_calls")? else { continue };
            if self.open.as_ref().is_some_and(|open| !open.is_text) {
                self.end_part(parts);
            }
            self.calls.push_chunk(piece, parts)?;
        }
        Ok(())
    }

    fn push_segments(&mut self, pieces: Vec<Segment>, parts: &mut Vec<Part>) {
        for piece in pieces {
            match piece {
                Segment::Text(text) => self.push_text(text, parts),
                Segment::Thought(thought) => self.push_reasoning(thought, "content", parts),
            }
        }
    }

    /// Appends reasoning. The field that it arrived in is stored in its metadata, because a gateway
    /// accepts reasoning only in its own field.
    fn push_reasoning(&mut self, delta: String, field: &str, parts: &mut Vec<Part>) {
        let id = match &self.open {
            Some(open) if !open.is_text => open.id.clone(),
            _ => {
                let id = self.begin_part(false, parts);
                let metadata = Some(provider_metadata("reasoningField", field.into()));
                parts.push(Part::ReasoningStart { id: id.clone(), metadata });
                id
            }
        };
        parts.push(Part::ReasoningDelta { id, delta, metadata: None });
    }

    fn push_text(&mut self, delta: String, parts: &mut Vec<Part>) {
        let id = match &self.open {
            Some(open) if open.is_text => open.id.clone(),
            _ => {
                let id = self.begin_part(true, parts);
                parts.push(Part::TextStart { id: id.clone() });
                id
            }
        };
        parts.push(Part::TextDelta { id, delta });
    }

    fn begin_part(&mut self, is_text: bool, parts: &mut Vec<Part>) -> String {
        self.end_part(parts);
        let id = self.part_count.to_string();
        self.part_count += 1;
        self.open = Some(OpenPart { id: id.clone(), is_text });
        id
    }

    fn end_part(&mut self, parts: &mut Vec<Part>) {
        parts.extend(self.open.take().map(|OpenPart { id, is_text }| {
            if is_text {
                Part::TextEnd { id, metadata: None, citations: Vec::new() }
            } else {
                Part::ReasoningEnd { id, metadata: None }
            }
        }));
    }

    /// Completes the reply. Without a finish reason the reply is truncated, even if `[DONE]`
    /// arrived.
    fn finish(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(raw) = self.finish_reason.take() else {
            return Err(stream_error("the stream ended without a finish reason: `finish_reason` is missing"));
        };
        self.is_complete = true;
        let mut pieces = Vec::new();
        self.think_tags.end(&mut pieces);
        self.push_segments(pieces, parts);
        self.end_part(parts);
        self.calls.finish(parts)?;
        let reason = finish_reason(&raw, self.has_refusal);
        parts.push(Part::Finish { reason, raw_reason: Some(raw), usage: to_usage(&self.usage), metadata: None });
        Ok(())
    }
}

/// Converts a finish reason. Gateways pass on the values of the models behind them.
fn finish_reason(raw: &str, refused: bool) -> FinishReason {
    match raw {
        "stop" | "end_turn" | "stop_sequence" | "eos" if refused => FinishReason::ContentFilter,
        "stop" | "end_turn" | "stop_sequence" | "eos" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "error" | "insufficient_system_resource" => FinishReason::Error,
        // `STOP`, `MAX_TOKENS`, …
        other if other.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            finish_reason(&other.to_ascii_lowercase(), refused)
        }
        _ => FinishReason::Other,
    }
}

fn to_usage(usage: &ApiUsage) -> Usage {
    let tokens = |count: Option<TokenCount>| count.unwrap_or_default().0;
    let (input, output) = (tokens(usage.prompt_tokens), tokens(usage.completion_tokens));
    let reasoning = tokens(usage.completion_tokens_details.and_then(|details| details.reasoning_tokens));
    // xAI does not include reasoning in the output tokens, all others do; the total shows which.
    let is_beside =
        reasoning > 0 && tokens(usage.total_tokens) == input.saturating_add(output).saturating_add(reasoning);
    let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens);
    Usage {
        input_tokens: input,
        output_tokens: if is_beside { output.saturating_add(reasoning) } else { output },
        cache_read_tokens: tokens(cached.or(usage.prompt_cache_hit_tokens)),
        cache_write_tokens: 0,
        reasoning_tokens: reasoning,
    }
}

/// Creates metadata that is sent back to a gateway with a part.
pub(crate) fn provider_metadata(key: &str, value: Value) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ key: value }))])
}

/// Converts an error in the stream. The status is in `code` or `status`, if it is present at all;
/// some providers put a word there, or in `type`.
fn model_error(error: &Value) -> ModelError {
    let status = ["code", "status", "status_code"].iter().find_map(|key| match error.get(key)? {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    });
    let is =
        |word: &str| ["code", "type"].iter().any(|key| error[key].as_str().is_some_and(|text| text.contains(word)));
    let kind = match status {
        Some(401 | 403) => ModelErrorKind::Unauthorized,
        Some(429) => ModelErrorKind::RateLimited,
        Some(408 | 409) => ModelErrorKind::Unavailable,
        Some(400..500) => ModelErrorKind::Refused,
        _ if is("api_key") || is("authentication") || is("permission") => ModelErrorKind::Unauthorized,
        _ if is("rate_limit") || is("quota") => ModelErrorKind::RateLimited,
        _ if is("invalid_request") || is("context_length") || is("not_found") => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    };
    reported_error(kind, error.as_str().map_or_else(|| error.to_string(), str::to_owned))
}
