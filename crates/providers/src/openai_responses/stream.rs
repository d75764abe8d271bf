//! Responses events → parts, without I/O.

use super::PROVIDER;
use super::api::{Annotation, Event, Failure, Item, Response, Usage as ApiUsage};
use super::citation::citation;
use super::server_tool::{self, Runner, Tools};
use crate::driver::{Codec, MAX_IMAGE_EVENT, broken};
use crate::lenient::{CallIds, Held, tool_name};
use contract::{Citation, FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Source, Usage};
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
    tools: Tools,
    /// Cited pages and files; told at the end unless the search that found them has told them.
    cited: Vec<Annotation>,
    refused: bool,
    has_called: bool,
    is_complete: bool,
}

/// An item that is arriving.
enum Open {
    /// The text's id, and what role it has in the answer.
    Text { id: String, phase: Option<String>, citations: Vec<Citation> },
    /// The item's id; a reasoning part for each of its summaries, of which the last is open.
    Reasoning { item_id: String, summary: u64 },
    /// The call's id and name.
    Call { id: String, name: String },
    /// A call of a tool that the provider has; its id, name and runner.
    Tool { id: String, name: String, runner: Runner },
    /// Of a kind that has no part: kept as it is when it is complete.
    Other,
}

impl Codec for Reader {
    /// An image comes when it is complete, and again with all others of the reply at its end.
    const MAX_EVENT: usize = 2 * MAX_IMAGE_EVENT;

    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|error| broken(format!("an event cannot be read: {error}")))?;
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => self.text(event, parts),
            // Open models tell their thoughts themselves, not a summary of them.
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.reasoning(event, parts),
            "response.reasoning_summary_part.added" => self.next_summary(&event, parts),
            "response.function_call_arguments.delta" => return self.arguments(event, parts),
            "response.output_item.added" => return self.begin(&event, parts),
            "response.output_item.done" => return self.end_item(&event, parts),
            "response.output_text.annotation.added" => return self.cite(event, parts),
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
        self.refused |= event.kind == "response.refusal.delta";
        if let (Some(Open::Text { id, .. }), Some(delta)) = (self.at(event.output_index), event.delta) {
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
                Open::Text { id: item_id, phase: item.phase, citations: Vec::new() }
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
            _ => self.begin_tool(event, parts)?,
        };
        self.open.push((event.output_index, open));
        Ok(())
    }

    fn end_item(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(item) = read(event)? else { return Ok(()) };
        let Some(at) = self.open.iter().rposition(|(known, _)| *known == event.output_index) else { return Ok(()) };
        match self.open.remove(at).1 {
            Open::Text { id, phase, citations } => {
                let mut metadata = metadata(&id, None);
                if let Some(phase) = item.phase.or(phase) {
                    metadata[PROVIDER]["phase"] = phase.into();
                }
                parts.push(Part::TextEnd { id, metadata: Some(metadata), citations });
            }
            Open::Reasoning { item_id, summary } => {
                let metadata = Some(metadata(&item_id, item.encrypted_content));
                parts.push(Part::ReasoningEnd { id: part_id(&item_id, summary), metadata });
            }
            Open::Call { id, name } => {
                self.has_called = true;
                let caller = item.caller.filter(|caller| !caller.is_null());
                let mut metadata = item.id.map(|item_id| metadata(&item_id, None));
                if let (Some(metadata), Some(caller)) = (&mut metadata, caller) {
                    metadata[PROVIDER]["caller"] = caller;
                }
                let input = item.arguments.unwrap_or_default();
                parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
            }
            Open::Tool { id, name, runner } => {
                let item = self.whole(event)?;
                let provider_executed = runner == Runner::Provider;
                self.has_called |= !provider_executed;
                let (input, metadata) = (server_tool::input(&item).to_string(), Some(server_tool::metadata(&item)));
                parts.push(Part::ToolCall { id, name, input, provider_executed, metadata });
                if provider_executed || server_tool::is_own_kind(&item) {
                    self.keep(item, parts);
                }
            }
            Open::Other => {
                let item = self.whole(event)?;
                self.keep(item, parts);
            }
        }
        Ok(())
    }

    /// An item of a kind that has no part of its own; a call if it is one.
    fn begin_tool(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) -> Result<Open, ModelError> {
        let item = self.whole(event)?;
        let Some((name, runner)) = server_tool::call_of(&item) else { return Ok(Open::Other) };
        let (id, name) = (self.calls.name(server_tool::call_id(&item))?, server_tool::shown_name(&item, name));
        let provider_executed = runner == Runner::Provider;
        parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed });
        Ok(Open::Tool { id, name, runner })
    }

    fn whole(&mut self, event: &Event<'_>) -> Result<Value, ModelError> {
        let raw = event.item.map_or("null", |raw| raw.get());
        self.held.grow(raw.len())?;
        Ok(serde_json::from_str(raw).unwrap_or(Value::Null))
    }

    /// Tells what an item brings, and keeps it as it came.
    fn keep(&mut self, item: Value, parts: &mut Vec<Part>) {
        self.tools.complete(&item, parts);
        parts.push(Part::ProviderItem { provider: PROVIDER.to_owned(), item });
    }

    fn cite(&mut self, event: Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(annotation) = event.annotation else { return Ok(()) };
        self.held.grow(annotation.url.as_ref().map_or(0, String::len) + 200)?;
        if let Some(Open::Text { citations, .. }) = self.at(event.output_index) {
            citations.extend(citation(&annotation));
        }
        match annotation.kind.as_str() {
            "container_file_citation" => {
                let name = annotation.filename.unwrap_or_default();
                let kept = json!({ "type": annotation.kind, "fileId": annotation.file_id, "containerId": annotation.container_id });
                parts.push(self.tools.document(&name, "text/plain", kept));
            }
            "file_path" => {
                let name = annotation.file_id.clone().unwrap_or_default();
                let kept = json!({ "type": annotation.kind, "fileId": annotation.file_id, "index": annotation.index });
                parts.push(self.tools.document(&name, "application/octet-stream", kept));
            }
            _ => self.cited.push(annotation),
        }
        Ok(())
    }

    /// Only at the end it is known whether a search has told what the text cites.
    fn tell_cited(&mut self, parts: &mut Vec<Part>) {
        for annotation in std::mem::take(&mut self.cited) {
            match (annotation.kind.as_str(), annotation.url) {
                ("file_citation", _) if !self.tools.has_files() => {
                    let name = annotation.filename.unwrap_or_default();
                    let kept =
                        json!({ "type": annotation.kind, "fileId": annotation.file_id, "index": annotation.index });
                    parts.push(self.tools.document(&name, "text/plain", kept));
                }
                ("file_citation", _) => {}
                (_, Some(url)) if !self.tools.has_pages => {
                    let id = self.tools.source_id();
                    parts.push(Part::Source(Source::Url { id, url, title: annotation.title, metadata: None }));
                }
                _ => {}
            }
        }
    }

    fn finish(&mut self, response: Option<Response>, parts: &mut Vec<Part>) {
        self.is_complete = true;
        self.tell_cited(parts);
        let (usage, incomplete) =
            response.map(|response| (response.usage, response.incomplete_details)).unwrap_or_default();
        let raw_reason = incomplete.and_then(|incomplete| incomplete.reason);
        let reason = match raw_reason.as_deref() {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some(_) => FinishReason::Other,
            None if self.refused => FinishReason::ContentFilter,
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
