//! Responses events → parts, without I/O.

use super::PROVIDER;
use super::api::{Event, Failure, Item, Response, Usage as ApiUsage};
use crate::driver::{Codec, broken};
use crate::lenient::{CallIds, Held, tool_name};
use contract::{FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Source, Usage};
use serde_json::{Map, Value, json};

/// Items that may be open at once.
const MAX_OPEN: usize = 64;

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    /// By their place in the output.
    open: Vec<(u64, Open)>,
    calls: CallIds,
    held: Held,
    sources: u64,
    has_called: bool,
    is_complete: bool,
}

/// An item that is arriving.
enum Open {
    /// The text's id.
    Text(String),
    /// The item's id; a reasoning part for each of its summaries, of which the last is open.
    Reasoning { item_id: String, summary: u64 },
    /// The call's id and name.
    Call { id: String, name: String },
    /// Of a kind that has no part: kept as it is when it is complete.
    Other,
}

impl Codec for Reader {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|error| broken(format!("an event cannot be read: {error}")))?;
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => self.text(event, parts),
            "response.reasoning_summary_text.delta" => self.reasoning(event, parts),
            "response.reasoning_summary_part.added" => self.next_summary(&event, parts),
            "response.function_call_arguments.delta" => return self.arguments(event, parts),
            "response.output_item.added" => return self.begin(&event, parts),
            "response.output_item.done" => return self.end_item(&event, parts),
            "response.output_text.annotation.added" => self.cite(event, parts),
            "response.completed" | "response.incomplete" => self.finish(event.response, parts),
            "response.failed" => return Err(failure(event.response.and_then(|response| response.error).as_ref())),
            "error" => {
                let failed = event.error.unwrap_or(Failure { code: event.code, message: event.message });
                return Err(failure(Some(&failed)));
            }
            // Whole texts after their deltas, progress of the provider's tools, and what comes later.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { Err(broken("the stream ended before response.completed")) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl Reader {
    fn at(&mut self, index: u64) -> Option<&mut Open> {
        self.open.iter_mut().rfind(|(known, _)| *known == index).map(|(_, open)| open)
    }

    fn text(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        if let (Some(Open::Text(id)), Some(delta)) = (self.at(event.output_index), event.delta) {
            parts.push(Part::TextDelta { id: id.clone(), delta });
        }
    }

    fn reasoning(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        if let (Some(Open::Reasoning { item_id, summary }), Some(delta)) = (self.at(event.output_index), event.delta) {
            parts.push(Part::ReasoningDelta { id: part_id(item_id, *summary), delta, metadata: None });
        }
    }

    /// The first summary goes into the part that began with the item.
    fn next_summary(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) {
        let next = event.summary_index;
        if let Some(Open::Reasoning { item_id, summary }) = self.at(event.output_index)
            && next > *summary
        {
            let metadata = Some(metadata(item_id, None));
            parts.push(Part::ReasoningEnd { id: part_id(item_id, *summary), metadata: None });
            parts.push(Part::ReasoningStart { id: part_id(item_id, next), metadata });
            *summary = next;
        }
    }

    fn arguments(&mut self, event: Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let delta = event.delta.unwrap_or_default();
        self.held.grow(delta.len())?;
        if let Some(Open::Call { id, .. }) = self.at(event.output_index) {
            parts.push(Part::ToolInputDelta { id: id.clone(), delta });
        }
        Ok(())
    }

    fn begin(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(item) = read(event)? else { return Ok(()) };
        if self.open.len() >= MAX_OPEN {
            return Err(broken("too many open items"));
        }
        let item_id = item.id.unwrap_or_else(|| event.output_index.to_string());
        let open = match item.kind.as_str() {
            "message" => {
                parts.push(Part::TextStart { id: item_id.clone() });
                Open::Text(item_id)
            }
            "reasoning" => {
                let metadata = Some(metadata(&item_id, item.encrypted_content));
                parts.push(Part::ReasoningStart { id: part_id(&item_id, 0), metadata });
                Open::Reasoning { item_id, summary: 0 }
            }
            "function_call" => {
                let (id, name) = (self.calls.name(item.call_id)?, tool_name(item.name));
                parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
                Open::Call { id, name }
            }
            _ => Open::Other,
        };
        self.open.push((event.output_index, open));
        Ok(())
    }

    fn end_item(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(item) = read(event)? else { return Ok(()) };
        let Some(at) = self.open.iter().rposition(|(known, _)| *known == event.output_index) else { return Ok(()) };
        match self.open.remove(at).1 {
            Open::Text(id) => {
                let metadata = Some(metadata(&id, None));
                parts.push(Part::TextEnd { id, metadata });
            }
            Open::Reasoning { item_id, summary } => {
                let metadata = Some(metadata(&item_id, item.encrypted_content));
                parts.push(Part::ReasoningEnd { id: part_id(&item_id, summary), metadata });
            }
            Open::Call { id, name } => {
                self.has_called = true;
                let metadata = item.id.map(|item_id| metadata(&item_id, None));
                let input = item.arguments.unwrap_or_default();
                parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
            }
            Open::Other => {
                let raw = event.item.map_or("null", |raw| raw.get());
                self.held.grow(raw.len())?;
                let item = serde_json::from_str(raw).unwrap_or(Value::Null);
                parts.push(Part::ProviderItem { provider: PROVIDER.to_owned(), item });
            }
        }
        Ok(())
    }

    fn cite(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        let Some(annotation) = event.annotation else { return };
        let Some(url) = annotation.url else { return };
        self.sources += 1;
        let id = format!("source-{}", self.sources);
        parts.push(Part::Source(Source::Url { id, url, title: annotation.title, metadata: None }));
    }

    fn finish(&mut self, response: Option<Response>, parts: &mut Vec<Part>) {
        self.is_complete = true;
        let (usage, incomplete) =
            response.map(|response| (response.usage, response.incomplete_details)).unwrap_or_default();
        let raw_reason = incomplete.and_then(|incomplete| incomplete.reason);
        let reason = match raw_reason.as_deref() {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some(_) => FinishReason::Other,
            None if self.has_called => FinishReason::ToolCalls,
            None => FinishReason::Stop,
        };
        parts.push(Part::Finish { reason, raw_reason, usage: tokens(usage.unwrap_or_default()), metadata: None });
    }
}

fn read(event: &Event<'_>) -> Result<Option<Item>, ModelError> {
    let read =
        |raw: &str| serde_json::from_str(raw).map_err(|error| broken(format!("an item cannot be read: {error}")));
    event.item.map(|raw| read(raw.get())).transpose()
}

fn part_id(item_id: &str, summary: u64) -> String {
    format!("{item_id}:{summary}")
}

/// What goes back to OpenAI with a part.
fn metadata(item_id: &str, encrypted: Option<String>) -> ProviderMetadata {
    let mut own = json!({ "itemId": item_id });
    if let Some(encrypted) = encrypted {
        own["reasoningEncryptedContent"] = encrypted.into();
    }
    Map::from_iter([(PROVIDER.to_owned(), own)])
}

fn tokens(usage: ApiUsage) -> Usage {
    let count = |count: Option<crate::lenient::Count>| count.unwrap_or_default().0;
    Usage {
        input_tokens: count(usage.input_tokens),
        output_tokens: count(usage.output_tokens),
        cache_read_tokens: count(usage.input_tokens_details.and_then(|details| details.cached_tokens)),
        cache_write_tokens: 0,
        reasoning_tokens: count(usage.output_tokens_details.and_then(|details| details.reasoning_tokens)),
    }
}

fn failure(failed: Option<&Failure>) -> ModelError {
    let (code, message) = failed.map(|failed| (failed.code.as_deref(), failed.message.as_deref())).unwrap_or_default();
    let code = code.unwrap_or("error");
    let kind = match code {
        "rate_limit_exceeded" | "insufficient_quota" => ModelErrorKind::RateLimited,
        "invalid_api_key" => ModelErrorKind::Unauthorized,
        code if code.starts_with("invalid") || code.contains("not_found") => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    };
    let mut cause = format!("{code}: {}", message.unwrap_or_default());
    cause.truncate(cause.floor_char_boundary(2_000));
    ModelError::new(kind, cause)
}
