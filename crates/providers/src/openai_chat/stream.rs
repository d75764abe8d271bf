//! Chat Completions chunks → parts, without I/O.

use super::PROVIDER;
use super::api::{Choice, Chunk, Delta, Usage as ApiUsage};
use super::calls::Calls;
use super::think::{Piece, Thoughts};
use crate::driver::{Codec, broken};
use crate::json::{self, unreadable};
use crate::lenient::Count;
use contract::{FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    open: Option<Open>,
    /// Texts and reasonings so far, which gives each its id.
    named: u64,
    calls: Calls,
    thoughts: Thoughts,
    refused: bool,
    finish_reason: Option<String>,
    usage: ApiUsage,
    is_complete: bool,
}

/// What is being written.
struct Open {
    id: String,
    is_text: bool,
}

impl Codec for Reader {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            return self.finish(parts);
        }
        if !json::is_event(data)? {
            return Ok(());
        }
        let mut spare = String::new();
        let chunk: Chunk<'_> = json::read(data, &mut spare).map_err(|error| unreadable("a chunk", &error))?;
        let (usage_of_groq, error_of_groq) = chunk.x_groq.map(|groq| (groq.usage, groq.error)).unwrap_or_default();
        if let Some(error) = chunk.error.or(error_of_groq).filter(|error| !error.is_null()) {
            return Err(failure(&error));
        }
        if let (true, Some(message)) = (chunk.choices.is_absent(), chunk.message) {
            return Err(failure(&message.into()));
        }
        self.usage = chunk.usage.or(usage_of_groq).unwrap_or(self.usage);
        match chunk.choices.list("choices")?.first() {
            Some(first) => match json::entry(first, "choices")? {
                Some(choice) => self.choice(choice, parts),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Some gateways leave out `[DONE]`; a finish reason is an end, too.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { self.finish(parts) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl Reader {
    fn choice(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let (mut spare, mut spare_delta) = (String::new(), String::new());
        let choice: Choice<'_> = json::read(raw, &mut spare).map_err(|error| unreadable("a chunk", &error))?;
        // Some gateways send an empty one with each chunk.
        let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        self.finish_reason = reason.or(self.finish_reason.take());
        match choice.delta.object("delta")? {
            Some(raw) => {
                let delta = json::read(raw, &mut spare_delta).map_err(|error| unreadable("`delta`", &error))?;
                self.delta(delta, parts)
            }
            None => Ok(()),
        }
    }

    fn delta(&mut self, delta: Delta<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if !delta.reasoning_content.text.is_empty() {
            self.reasoning(delta.reasoning_content.text, "reasoning_content", parts);
        } else if !delta.reasoning.text.is_empty() {
            self.reasoning(delta.reasoning.text, "reasoning", parts);
        }
        if !delta.content.thinking.is_empty() {
            self.reasoning(delta.content.thinking, "content", parts);
        }
        if !delta.content.text.is_empty() {
            let mut pieces = Vec::new();
            self.thoughts.push(delta.content.text, &mut pieces);
            self.pieces(pieces, parts);
        }
        if !delta.refusal.text.is_empty() {
            self.refused = true;
            self.text(delta.refusal.text, parts);
        }
        for piece in delta.tool_calls.list("tool_calls")? {
            let Some(piece) = json::entry(piece, "tool_calls")? else { continue };
            if self.open.as_ref().is_some_and(|open| !open.is_text) {
                self.close(parts);
            }
            self.calls.piece(piece, parts)?;
        }
        Ok(())
    }

    fn pieces(&mut self, pieces: Vec<Piece>, parts: &mut Vec<Part>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.text(text, parts),
                Piece::Thought(thought) => self.reasoning(thought, "content", parts),
            }
        }
    }

    /// Under which field it came is kept with it: a gateway takes its thoughts back only under its own word for them.
    fn reasoning(&mut self, delta: String, field: &str, parts: &mut Vec<Part>) {
        let id = match &self.open {
            Some(open) if !open.is_text => open.id.clone(),
            _ => {
                let id = self.begin(false, parts);
                let metadata = Some(metadata("reasoningField", field.into()));
                parts.push(Part::ReasoningStart { id: id.clone(), metadata });
                id
            }
        };
        parts.push(Part::ReasoningDelta { id, delta, metadata: None });
    }

    fn text(&mut self, delta: String, parts: &mut Vec<Part>) {
        let id = match &self.open {
            Some(open) if open.is_text => open.id.clone(),
            _ => {
                let id = self.begin(true, parts);
                parts.push(Part::TextStart { id: id.clone() });
                id
            }
        };
        parts.push(Part::TextDelta { id, delta });
    }

    fn begin(&mut self, is_text: bool, parts: &mut Vec<Part>) -> String {
        self.close(parts);
        let id = self.named.to_string();
        self.named += 1;
        self.open = Some(Open { id: id.clone(), is_text });
        id
    }

    fn close(&mut self, parts: &mut Vec<Part>) {
        parts.extend(self.open.take().map(|Open { id, is_text }| match is_text {
            true => Part::TextEnd { id, metadata: None, citations: Vec::new() },
            false => Part::ReasoningEnd { id, metadata: None },
        }));
    }

    /// Without a finish reason a gateway lost the rest on its way, also when it says `[DONE]`.
    fn finish(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(raw) = self.finish_reason.take() else {
            return Err(broken("the stream ended without a finish reason: no `finish_reason` came"));
        };
        self.is_complete = true;
        let mut pieces = Vec::new();
        self.thoughts.end(&mut pieces);
        self.pieces(pieces, parts);
        self.close(parts);
        self.calls.finish(parts)?;
        let reason = reason(&raw, self.refused);
        parts.push(Part::Finish { reason, raw_reason: Some(raw), usage: usage(&self.usage), metadata: None });
        Ok(())
    }
}

/// Gateways pass on the words of the models behind them.
fn reason(raw: &str, refused: bool) -> FinishReason {
    match raw {
        "stop" | "end_turn" | "stop_sequence" | "eos" if refused => FinishReason::ContentFilter,
        "stop" | "end_turn" | "stop_sequence" | "eos" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "error" | "insufficient_system_resource" => FinishReason::Error,
        // `STOP`, `MAX_TOKENS`, …
        other if other.bytes().any(|byte| byte.is_ascii_uppercase()) => reason(&other.to_ascii_lowercase(), refused),
        _ => FinishReason::Other,
    }
}

fn usage(usage: &ApiUsage) -> Usage {
    let tokens = |count: Option<Count>| count.unwrap_or_default().0;
    let (input, said) = (tokens(usage.prompt_tokens), tokens(usage.completion_tokens));
    let reasoning = tokens(usage.completion_tokens_details.and_then(|details| details.reasoning_tokens));
    // xAI counts reasoning beside the output, all others within it; the total tells.
    let is_beside = reasoning > 0 && tokens(usage.total_tokens) == input.saturating_add(said).saturating_add(reasoning);
    let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens);
    Usage {
        input_tokens: input,
        output_tokens: if is_beside { said.saturating_add(reasoning) } else { said },
        cache_read_tokens: tokens(cached.or(usage.prompt_cache_hit_tokens)),
        cache_write_tokens: 0,
        reasoning_tokens: reasoning,
    }
}

/// What goes back to a gateway with a part.
pub(crate) fn metadata(key: &str, value: Value) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ key: value }))])
}

/// An error in the stream. Its status is in `code` or `status` if anywhere; some have a word there, or in `type`.
fn failure(error: &Value) -> ModelError {
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
    let mut cause = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
    cause.truncate(cause.floor_char_boundary(2_000));
    ModelError::new(kind, cause)
}
