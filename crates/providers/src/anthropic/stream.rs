//! Messages events → parts, without I/O.

use super::PROVIDER;
use super::api::{Block, Delta, Event, Failure, Usage as ApiUsage};
use crate::http::{Codec, broken};
use contract::{FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};

/// Arguments of one call, in bytes.
const MAX_INPUT: usize = 1024 * 1024;

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    open: Vec<(u64, Open)>,
    usage: ApiUsage,
    stop_reason: Option<String>,
    complete: bool,
}

/// A block that is arriving.
enum Open {
    Text,
    Thinking,
    Tool {
        id: String,
        name: String,
        input: String,
    },
    /// Of a kind that has no part: kept as it came, with the arguments that stream in.
    Item {
        block: Value,
        input: String,
    },
}

impl Codec for Reader {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|error| broken(format!("an event cannot be read: {error}")))?;
        match &*event.kind {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    return self.delta(event.index, delta, parts);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    return self.start(event.index, block.get(), parts);
                }
            }
            "content_block_stop" => self.stop(event.index, parts),
            "message_start" => {
                if let Some(message) = event.message {
                    self.count(message.usage);
                    self.stop_reason = message.stop_reason.map(Into::into);
                }
            }
            "message_delta" => {
                self.count(event.usage);
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.stop_reason = Some(reason.into());
                }
            }
            "message_stop" => self.finish(parts),
            "error" => return Err(failure(event.error)),
            // `ping`, and whatever comes later.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.complete { Ok(()) } else { Err(broken("the stream ended before message_stop")) }
    }

    fn is_complete(&self) -> bool {
        self.complete
    }
}

impl Reader {
    fn start(&mut self, index: u64, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let block: Block<'_> =
            serde_json::from_str(raw).map_err(|error| broken(format!("a block cannot be read: {error}")))?;
        let id = index.to_string();
        let open = match &*block.kind {
            "text" => {
                parts.push(Part::TextStart { id: id.clone() });
                if let Some(text) = block.text.filter(|text| !text.is_empty()) {
                    parts.push(Part::TextDelta { id, delta: text.into() });
                }
                Open::Text
            }
            "thinking" => {
                parts.push(Part::ReasoningStart { id: id.clone(), metadata: None });
                if let Some(text) = block.thinking.filter(|text| !text.is_empty()) {
                    parts.push(Part::ReasoningDelta { id, delta: text.into(), metadata: None });
                }
                Open::Thinking
            }
            "redacted_thinking" => {
                let data = block.data.map(|data| metadata("redactedData", &data));
                parts.push(Part::ReasoningStart { id, metadata: data });
                Open::Thinking
            }
            "tool_use" => {
                let (id, name) =
                    (block.id.unwrap_or_default().into_owned(), block.name.unwrap_or_default().into_owned());
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
                // Some gateways send the whole input here and no deltas.
                let whole = block.input.map(|input| input.get()).filter(|input| !matches!(*input, "{}" | "null"));
                Open::Tool { id, name, input: whole.unwrap_or_default().to_owned() }
            }
            _ => {
                let block =
                    serde_json::from_str(raw).map_err(|error| broken(format!("a block cannot be read: {error}")))?;
                Open::Item { block, input: String::new() }
            }
        };
        self.open.retain(|(known, _)| *known != index);
        self.open.push((index, open));
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some((_, open)) = self.open.iter_mut().find(|(known, _)| *known == index) else { return Ok(()) };
        let id = || index.to_string();
        match open {
            Open::Text => {
                if let Some(text) = delta.text {
                    parts.push(Part::TextDelta { id: id(), delta: text.into() });
                }
            }
            Open::Thinking => {
                if let Some(text) = delta.thinking {
                    parts.push(Part::ReasoningDelta { id: id(), delta: text.into(), metadata: None });
                }
                if let Some(signature) = delta.signature {
                    let metadata = Some(metadata("signature", &signature));
                    parts.push(Part::ReasoningDelta { id: id(), delta: String::new(), metadata });
                }
            }
            Open::Tool { id, input, .. } => {
                if let Some(json) = delta.partial_json.filter(|json| !json.is_empty()) {
                    grow(input, &json)?;
                    parts.push(Part::ToolInputDelta { id: id.clone(), delta: json.into() });
                }
            }
            Open::Item { input, .. } => {
                if let Some(json) = delta.partial_json {
                    grow(input, &json)?;
                }
            }
        }
        Ok(())
    }

    fn stop(&mut self, index: u64, parts: &mut Vec<Part>) {
        let Some(at) = self.open.iter().position(|(known, _)| *known == index) else { return };
        let id = index.to_string();
        parts.push(match self.open.remove(at).1 {
            Open::Text => Part::TextEnd { id, metadata: None },
            Open::Thinking => Part::ReasoningEnd { id, metadata: None },
            Open::Tool { id, name, input } => {
                Part::ToolCall { id, name, input, provider_executed: false, metadata: None }
            }
            Open::Item { mut block, input } => {
                if let Ok(input) = serde_json::from_str::<Value>(&input) {
                    block["input"] = input;
                }
                Part::ProviderItem { provider: PROVIDER.to_owned(), item: block }
            }
        });
    }

    /// Later counts replace earlier ones, field by field.
    fn count(&mut self, news: Option<ApiUsage>) {
        let Some(news) = news else { return };
        self.usage = ApiUsage {
            input_tokens: news.input_tokens.or(self.usage.input_tokens),
            output_tokens: news.output_tokens.or(self.usage.output_tokens),
            cache_read_input_tokens: news.cache_read_input_tokens.or(self.usage.cache_read_input_tokens),
            cache_creation_input_tokens: news.cache_creation_input_tokens.or(self.usage.cache_creation_input_tokens),
        };
    }

    fn finish(&mut self, parts: &mut Vec<Part>) {
        self.complete = true;
        let raw_reason = self.stop_reason.take();
        let reason = match raw_reason.as_deref() {
            Some("end_turn" | "stop_sequence" | "pause_turn") => FinishReason::Stop,
            Some("tool_use") => FinishReason::ToolCalls,
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
            Some("refusal") => FinishReason::ContentFilter,
            _ => FinishReason::Other,
        };
        let tokens = |count: Option<f64>| count.map_or(0, |count| count as u64);
        let usage = &self.usage;
        let (read, written) = (tokens(usage.cache_read_input_tokens), tokens(usage.cache_creation_input_tokens));
        let usage = Usage {
            input_tokens: tokens(usage.input_tokens).saturating_add(read).saturating_add(written),
            output_tokens: tokens(usage.output_tokens),
            cache_read_tokens: read,
            cache_write_tokens: written,
            reasoning_tokens: 0,
        };
        parts.push(Part::Finish { reason, raw_reason, usage, metadata: None });
    }
}

fn grow(input: &mut String, json: &str) -> Result<(), ModelError> {
    if input.len() + json.len() > MAX_INPUT {
        return Err(broken("a call's arguments are too large"));
    }
    input.push_str(json);
    Ok(())
}

fn metadata(key: &str, value: &str) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ key: value }))])
}

fn failure(error: Option<Failure<'_>>) -> ModelError {
    let (kind, message) = error.map(|error| (error.kind, error.message)).unwrap_or_default();
    let kind = kind.unwrap_or_default();
    let class = match &*kind {
        "overloaded_error" | "api_error" | "timeout_error" => ModelErrorKind::Unavailable,
        "rate_limit_error" => ModelErrorKind::RateLimited,
        "authentication_error" | "permission_error" => ModelErrorKind::Unauthorized,
        _ => ModelErrorKind::Refused,
    };
    ModelError::new(class, format!("{kind}: {}", message.unwrap_or_default()))
}
