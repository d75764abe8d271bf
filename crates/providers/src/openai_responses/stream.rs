//! Responses events → parts, without I/O.

use super::api::{Annotation, Event, Failure, Response, Usage as ApiUsage};
use super::citation::citation;
use super::items::{Open, OpenItem, metadata, part_id};
use super::server_tool::Tools;
use crate::driver::{Codec, MAX_IMAGE_EVENT, broken};
use crate::json;
use crate::lenient::{CallIds, Held};
use contract::{Citation, FinishReason, ModelError, ModelErrorKind, Part, Source, Usage};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    pub(super) open: Vec<OpenItem>,
    /// Places of the items that have ended: one that is repeated adds nothing.
    pub(super) ended: HashSet<u64>,
    /// Ids of the items that have begun.
    pub(super) seen: HashSet<String>,
    /// How many items have begun.
    pub(super) begun: usize,
    /// How many of these had no id of their own.
    pub(super) named: usize,
    pub(super) calls: CallIds,
    pub(super) held: Held,
    pub(super) tools: Tools,
    /// Cited pages and files; told at the end unless the search that found them has told them.
    cited: Vec<Annotation>,
    pub(super) refused: bool,
    pub(super) has_called: bool,
    is_complete: bool,
}

impl Codec for Reader {
    /// An image comes when it is complete, and again with all others of the reply at its end.
    const MAX_EVENT: usize = 2 * MAX_IMAGE_EVENT;

    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" || !json::is_event(data)? {
            return Ok(());
        }
        let mut spare = String::new();
        let event: Event<'_> = json::read(data, &mut spare).map_err(|error| json::unreadable("an event", &error))?;
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => self.text(event, parts),
            // Open models tell their thoughts themselves, not a summary of them.
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.reasoning(event, parts),
            "response.reasoning_summary_part.added" => self.next_summary(&event, parts),
            "response.function_call_arguments.delta" => self.arguments(event, parts)?,
            "response.output_item.added" => {
                event.item.map_or(Ok(()), |item| self.begin(event.output_index, item, parts))?;
            }
            "response.output_item.done" => {
                event.item.map_or(Ok(()), |item| self.end_item(event.output_index, item, parts))?;
            }
            "response.output_text.annotation.added" => self.annotate(event, parts)?,
            "response.completed" | "response.incomplete" => self.finish(&event, parts)?,
            "response.failed" => {
                let mut spare = String::new();
                return Err(failure(response(event.response, &mut spare).error.as_ref()));
            }
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
        if self.is_complete { Ok(()) } else { Err(broken("the stream ended before `response.completed`")) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl Reader {
    /// The open item that an event is about: by its place, or by its id; the newest where the event says neither.
    pub(super) fn find(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        let at_place = || self.open.iter().rposition(|open| index == Some(open.place));
        let with_id = || self.open.iter().rposition(|open| id.is_some() && open.given_id.as_deref() == id);
        let newest = || self.open.len().checked_sub(1).filter(|_| index.is_none());
        at_place().or_else(with_id).or_else(newest)
    }

    /// The place of an item that begins; without a place, behind all others.
    pub(super) fn new_place(&mut self, index: Option<u64>) -> u64 {
        let places = self.open.iter().map(|open| open.place).chain(self.ended.iter().copied());
        let place = index.unwrap_or_else(|| places.max().map_or(0, |last| last.saturating_add(1)));
        self.ended.remove(&place);
        place
    }

    /// The open item that a delta belongs to, begun where it has not been. None for what comes behind an item's end.
    fn grown(&mut self, event: &Event<'_>, is_text: bool, parts: &mut Vec<Part>) -> Option<&mut Open> {
        let at = match self.find(event.output_index, event.item_id.as_deref()) {
            Some(at) => at,
            None if event.output_index.is_some_and(|index| self.ended.contains(&index)) => return None,
            None => {
                self.begun += 1;
                let (place, given_id) = (self.new_place(event.output_index), event.item_id.clone());
                self.seen.extend(given_id.clone());
                self.open.push(OpenItem { place, given_id, state: Open::Other });
                self.open.len() - 1
            }
        };
        if matches!(self.open[at].state, Open::Other) {
            let id = event.item_id.clone();
            let begin = if is_text { Self::begin_text } else { Self::begin_reasoning };
            self.open[at].state = begin(self, id, None, parts);
        }
        Some(&mut self.open[at].state)
    }

    fn text(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        self.refused |= event.kind == "response.refusal.delta";
        if let Some(Open::Text { id, is_empty, .. }) = self.grown(&event, true, parts)
            && let Some(delta) = event.delta
        {
            *is_empty = false;
            parts.push(Part::TextDelta { id: id.clone(), delta });
        }
    }

    fn reasoning(&mut self, event: Event<'_>, parts: &mut Vec<Part>) {
        if let Some(Open::Reasoning { item_id, summary, is_empty }) = self.grown(&event, false, parts)
            && let Some(delta) = event.delta
        {
            *is_empty = false;
            parts.push(Part::ReasoningDelta { id: part_id(item_id, *summary), delta, metadata: None });
        }
    }

    /// The first summary goes into the part that began with the item.
    fn next_summary(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) {
        let next = event.summary_index.unwrap_or_default();
        if let Some(Open::Reasoning { item_id, summary, .. }) = self.grown(event, false, parts)
            && next > *summary
        {
            let metadata = Some(metadata(item_id, None));
            parts.push(Part::ReasoningEnd { id: part_id(item_id, *summary), metadata: None });
            parts.push(Part::ReasoningStart { id: part_id(item_id, next), metadata });
            *summary = next;
        }
    }

    /// Those of a call that is not known come whole when it ends.
    fn arguments(&mut self, event: Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let delta = event.delta.unwrap_or_default();
        self.held.grow(delta.len())?;
        let at = self.find(event.output_index, event.item_id.as_deref());
        if let Some(Open::Call { id, input, .. }) = at.map(|at| &mut self.open[at].state) {
            input.push_str(&delta);
            parts.push(Part::ToolInputDelta { id: id.clone(), delta });
        }
        Ok(())
    }

    fn annotate(&mut self, event: Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(annotation) = event.annotation else { return Ok(()) };
        let cited = self.cite(annotation, parts)?;
        let at = self.find(event.output_index, event.item_id.as_deref());
        if let Some(Open::Text { citations, .. }) = at.map(|at| &mut self.open[at].state) {
            citations.extend(cited);
        }
        Ok(())
    }

    /// Tells what a text cites as a source, or remembers it until the end.
    pub(super) fn cite(
        &mut self,
        annotation: Annotation,
        parts: &mut Vec<Part>,
    ) -> Result<Option<Citation>, ModelError> {
        self.held.grow(annotation.url.as_ref().map_or(0, String::len) + 200)?;
        let cited = citation(&annotation);
        match annotation.kind() {
            "container_file_citation" => {
                let name = annotation.filename.as_deref().unwrap_or_default();
                let kept = json!({ "type": annotation.kind(), "fileId": annotation.file_id, "containerId": annotation.container_id });
                parts.push(self.tools.document(name, "text/plain", kept));
            }
            "file_path" => {
                let name = annotation.file_id.clone().unwrap_or_default();
                let kept =
                    json!({ "type": annotation.kind(), "fileId": annotation.file_id, "index": annotation.index });
                parts.push(self.tools.document(&name, "application/octet-stream", kept));
            }
            _ => self.cited.push(annotation),
        }
        Ok(cited)
    }

    /// Only at the end it is known whether a search has told what the text cites.
    fn tell_cited(&mut self, parts: &mut Vec<Part>) {
        for annotation in std::mem::take(&mut self.cited) {
            match (annotation.kind(), &annotation.url) {
                ("file_citation", _) if !self.tools.has_files() => {
                    let name = annotation.filename.as_deref().unwrap_or_default();
                    let kept =
                        json!({ "type": annotation.kind(), "fileId": annotation.file_id, "index": annotation.index });
                    parts.push(self.tools.document(name, "text/plain", kept));
                }
                ("file_citation", _) => {}
                (_, Some(url)) if !self.tools.has_pages => {
                    let (id, url, title) = (self.tools.source_id(), url.clone(), annotation.title);
                    parts.push(Part::Source(Source::Url { id, url, title, metadata: None }));
                }
                _ => {}
            }
        }
    }

    fn finish(&mut self, event: &Event<'_>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut spare = String::new();
        let response = response(event.response, &mut spare);
        let listed = response.output.list("output").unwrap_or_default();
        self.end_rest(&listed, event.kind == "response.incomplete", parts)?;
        self.is_complete = true;
        self.tell_cited(parts);
        let raw_reason = response.incomplete_details.and_then(|incomplete| incomplete.reason);
        let reason = match raw_reason.as_deref() {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some(_) if self.has_called => FinishReason::ToolCalls,
            Some(_) => FinishReason::Other,
            None if self.refused => FinishReason::ContentFilter,
            None if self.has_called => FinishReason::ToolCalls,
            None => FinishReason::Stop,
        };
        let usage = tokens(response.usage.unwrap_or_default());
        parts.push(Part::Finish { reason, raw_reason, usage, metadata: None });
        Ok(())
    }
}

/// The response of an event; an empty one where it cannot be read.
fn response<'a>(raw: Option<&'a RawValue>, spare: &'a mut String) -> Response<'a> {
    raw.and_then(|raw| json::read(raw.get(), spare).ok()).unwrap_or_default()
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
