//! Decodes the events of the Responses API to parts, without I/O.

use super::api::{Annotation, Event, Failure, Response, Usage as ApiUsage};
use super::citation::citation;
use super::items::{ItemState, OpenItem, item_metadata, summary_part_id};
use super::server_tool::ServerToolState;
use crate::driver::{Codec, MAX_IMAGE_EVENT, reported_error, stream_error};
use crate::json;
use crate::lenient::{BufferedBytes, CallIds};
use contract::{Citation, FinishReason, ModelError, ModelErrorKind, Part, Source, Usage};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Decodes one reply.
#[derive(Default)]
pub(crate) struct ResponsesCodec {
    pub(super) open_items: Vec<OpenItem>,
    /// The output indexes of the items that have ended; repeated ones are ignored.
    pub(super) ended_indexes: HashSet<u64>,
    /// The ids of the items that have begun.
    pub(super) seen_ids: HashSet<String>,
    /// The number of items that have begun.
    pub(super) item_count: usize,
    /// The number of ids that were generated for items without one.
    pub(super) generated_ids: usize,
    pub(super) calls: CallIds,
    pub(super) buffered: BufferedBytes,
    pub(super) tools: ServerToolState,
    /// The cited pages and files; reported at the end unless a search has reported them.
    pending_citations: Vec<Annotation>,
    pub(super) has_refusal: bool,
    pub(super) has_tool_calls: bool,
    is_complete: bool,
}

impl Codec for ResponsesCodec {
    /// An image arrives when it is complete, and again with all other items at the end.
    const MAX_EVENT: usize = 2 * MAX_IMAGE_EVENT;

    fn decode_event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" || !json::has_object(data)? {
            return Ok(());
        }
        let mut spare = String::new();
        let event: Event<'_> = json::parse(data, &mut spare).map_err(|error| json::parse_error("an event", &error))?;
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => self.push_text(event, parts),
            // Open models send their reasoning itself instead of a summary.
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.push_reasoning(event, parts)
            }
            "response.reasoning_summary_part.added" => self.next_summary(&event, parts),
            "response.function_call_arguments.delta" => self.push_arguments(event, parts)?,
            "response.output_item.added" => {
                event.item.map_or(Ok(()), |item| self.begin_item(event.output_index, item, parts))?;
            }
            "response.output_item.done" => {
                event.item.map_or(Ok(()), |item| self.end_item(event.output_index, item, parts))?;
            }
            "response.output_text.annotation.added" => self.push_annotation(event, parts)?,
            "response.completed" | "response.incomplete" => self.finish(&event, parts)?,
            "response.failed" => {
                let mut spare = String::new();
                return Err(model_error(parse_response(event.response, &mut spare).error.as_ref()));
            }
            "error" => {
                let failed = event.error.unwrap_or(Failure { code: event.code, message: event.message });
                return Err(model_error(Some(&failed)));
            }
            // Complete texts after their deltas, progress of the provider's tools, and unknown
            // events.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { Err(stream_error("the stream ended before `response.completed`")) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl ResponsesCodec {
    /// Finds the open item of an event by its index or id; the newest one if the event has neither.
    pub(super) fn find_open_item(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        let at_place = || self.open_items.iter().rposition(|open| index == Some(open.output_index));
        let with_id = || self.open_items.iter().rposition(|open| id.is_some() && open.provider_id.as_deref() == id);
        let newest = || self.open_items.len().checked_sub(1).filter(|_| index.is_none());
        at_place().or_else(with_id).or_else(newest)
    }

    /// Returns the output index for a new item; without an index, it follows all others.
    pub(super) fn new_output_index(&mut self, index: Option<u64>) -> u64 {
        let places = self.open_items.iter().map(|open| open.output_index).chain(self.ended_indexes.iter().copied());
        let place = index.unwrap_or_else(|| places.max().map_or(0, |last| last.saturating_add(1)));
        self.ended_indexes.remove(&place);
        place
    }

    /// Returns the open item of a delta, which is begun if necessary; `None` if the item has
    /// already ended.
    fn item_for_delta(&mut self, event: &Event<'_>, is_text: bool, parts: &mut Vec<Part>) -> Option<&mut ItemState> {
        let at = match self.find_open_item(event.output_index, event.item_id.as_deref()) {
            Some(at) => at,
            None if event.output_index.is_some_and(|index| self.ended_indexes.contains(&index)) => return None,
            None => {
                self.item_count += 1;
                let (place, given_id) = (self.new_output_index(event.output_index), event.item_id.clone());
                self.seen_ids.extend(given_id.clone());
                self.open_items.push(OpenItem { output_index: place, provider_id: given_id, state: ItemState::Other });
                self.open_items.len() - 1
            }
        };
        if matches!(self.open_items[at].state, ItemState::Other) {
            let id = event.item_id.clone();
            let begin = if is_text { Self::begin_text } else { Self::begin_reasoning };
            self.open_items[at].state = begin(self, id, None, parts);
        }
        Some(&mut self.open_items[at].state)
    }

    fn push_text(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        self.has_refusal |= event.kind == "response.refusal.delta";
        if let Some(ItemState::Text { id, is_empty, .. }) = self.item_for_delta(&event, true, parts)
            && let Some(delta) = event.delta
        {
            *is_empty = false;
            parts.push(Part::TextDelta { id: id.clone(), delta });
        }
    }

    fn push_reasoning(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        if let Some(ItemState::Reasoning { item_id, summary, is_empty }) = self.item_for_delta(&event, false, parts)
            && let Some(delta) = event.delta
        {
            *is_empty = false;
            parts.push(Part::ReasoningDelta { id: summary_part_id(item_id, *summary), delta, metadata: None });
        }
    }

    /// Begins the next summary. The first one uses the part that began with the item.
    fn next_summary(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) {
        let next = event.summary_index.unwrap_or_default();
        if let Some(ItemState::Reasoning { item_id, summary, .. }) = self.item_for_delta(event, false, parts)
            && next > *summary
        {
            let metadata = Some(item_metadata(item_id, None));
            parts.push(Part::ReasoningEnd { id: summary_part_id(item_id, *summary), metadata: None });
            parts.push(Part::ReasoningStart { id: summary_part_id(item_id, next), metadata });
            *summary = next;
        }
    }

    /// Adds arguments to an open call. Those of an unknown call are complete when its item ends.
    fn push_arguments(&mut self, event: Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let delta = event.delta.unwrap_or_default();
        self.buffered.add(delta.len())?;
        let at = self.find_open_item(event.output_index, event.item_id.as_deref());
        if let Some(ItemState::Call { id, input, .. }) = at.map(|at| &mut self.open_items[at].state) {
            input.push_str(&delta);
            parts.push(Part::ToolInputDelta { id: id.clone(), delta });
        }
        Ok(())
    }

    fn push_annotation(&mut self, event: Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(annotation) = event.annotation else { return Ok(()) };
        let cited = self.add_citation(annotation, parts)?;
        let at = self.find_open_item(event.output_index, event.item_id.as_deref());
        if let Some(ItemState::Text { citations, .. }) = at.map(|at| &mut self.open_items[at].state) {
            citations.extend(cited);
        }
        Ok(())
    }

    /// Appends the source of a citation, or keeps it until the end of the reply.
    pub(super) fn add_citation(
        &mut self,
        annotation: Annotation,
        parts: &mut Vec<Part>,
    ) -> Result<Option<Citation>, ModelError> {
        self.buffered.add(annotation.url.as_ref().map_or(0, String::len) + 200)?;
        let cited = citation(&annotation);
        match annotation.kind() {
            "container_file_citation" => {
                let name = annotation.filename.as_deref().unwrap_or_default();
                let kept = json!({ "type": annotation.kind(), "fileId": annotation.file_id, "containerId": annotation.container_id });
                parts.push(self.tools.document_source(name, "text/plain", kept));
            }
            "file_path" => {
                let name = annotation.file_id.clone().unwrap_or_default();
                let kept =
                    json!({ "type": annotation.kind(), "fileId": annotation.file_id, "index": annotation.index });
                parts.push(self.tools.document_source(&name, "application/octet-stream", kept));
            }
            _ => self.pending_citations.push(annotation),
        }
        Ok(cited)
    }

    /// Appends the sources that no search has reported, which is known only at the end.
    fn push_cited_sources(&mut self, parts: &mut Vec<Part>) {
        for annotation in std::mem::take(&mut self.pending_citations) {
            match (annotation.kind(), &annotation.url) {
                ("file_citation", _) if !self.tools.has_file_sources() => {
                    let name = annotation.filename.as_deref().unwrap_or_default();
                    let kept =
                        json!({ "type": annotation.kind(), "fileId": annotation.file_id, "index": annotation.index });
                    parts.push(self.tools.document_source(name, "text/plain", kept));
                }
                ("file_citation", _) => {}
                (_, Some(url)) if !self.tools.has_page_sources => {
                    let (id, url, title) = (self.tools.next_source_id(), url.clone(), annotation.title);
                    parts.push(Part::Source(Source::Url { id, url, title, metadata: None }));
                }
                _ => {}
            }
        }
    }

    fn finish(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut spare = String::new();
        let response = parse_response(event.response, &mut spare);
        let listed = response.output.list("output").unwrap_or_default();
        let is_incomplete = event.kind == "response.incomplete";
        self.end_open_items(&listed, is_incomplete, parts)?;
        self.is_complete = true;
        self.push_cited_sources(parts);
        let raw_reason = response.incomplete_details.and_then(|incomplete| incomplete.reason);
        let reason = match raw_reason.as_deref() {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            None if self.has_refusal => FinishReason::ContentFilter,
            // The answer is not whole, for whatever reason.
            _ if is_incomplete => FinishReason::Error,
            Some(_) if self.has_tool_calls => FinishReason::ToolCalls,
            Some(_) => FinishReason::Other,
            None if self.has_tool_calls => FinishReason::ToolCalls,
            None => FinishReason::Stop,
        };
        let usage = to_usage(response.usage.unwrap_or_default());
        parts.push(Part::Finish { reason, raw_reason, usage, metadata: None });
        Ok(())
    }
}

/// Parses the response in an event; empty if it is invalid.
fn parse_response<'a>(raw: Option<&'a RawValue>, spare: &'a mut String) -> Response<'a> {
    raw.and_then(|raw| json::parse(raw.get(), spare).ok()).unwrap_or_default()
}

fn to_usage(usage: ApiUsage) -> Usage {
    let count = |count: Option<crate::lenient::TokenCount>| count.unwrap_or_default().0;
    Usage {
        input_tokens: count(usage.input_tokens),
        output_tokens: count(usage.output_tokens),
        cache_read_tokens: count(usage.input_tokens_details.and_then(|details| details.cached_tokens)),
        cache_write_tokens: 0,
        reasoning_tokens: count(usage.output_tokens_details.and_then(|details| details.reasoning_tokens)),
    }
}

fn model_error(failed: Option<&Failure>) -> ModelError {
    let (code, message) = failed.map(|failed| (failed.code.as_deref(), failed.message.as_deref())).unwrap_or_default();
    let code = code.unwrap_or("error");
    let kind = match code {
        "rate_limit_exceeded" | "insufficient_quota" => ModelErrorKind::RateLimited,
        "invalid_api_key" => ModelErrorKind::Unauthorized,
        code if code.starts_with("invalid") || code.contains("not_found") => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    };
    reported_error(kind, format!("{code}: {}", message.unwrap_or_default()))
}
