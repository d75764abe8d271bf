//! Decodes Gemini's chunks to parts, without I/O.

use super::PROVIDER;
use super::api::{Candidate, Chunk, Content, Failure, FunctionCall, Part as ApiPart, Usage as ApiUsage};
use super::arguments;
use super::grounding::{self, GroundingSource};
use crate::driver::{Codec, MAX_IMAGE_EVENT, reported_error, stream_error};
use crate::json::{self, parse_error, text_from_value};
use crate::lenient::{BufferedBytes, CallIds, tool_name_or_default};
use contract::{Citation, FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Decodes one reply.
#[derive(Default)]
pub(crate) struct GeminiCodec {
    open: Option<OpenPart>,
    /// The number of texts and reasoning parts so far; the source of their ids.
    part_count: u64,
    call: Option<StreamingCall>,
    calls: CallIds,
    buffered: BufferedBytes,
    /// The complete calls that had an id of Google's, with their arguments. A repeated one is
    /// ignored.
    seen_calls: HashSet<String>,
    /// The calls of Google's own tools that have no result yet.
    server_calls: Vec<ServerCall>,
    /// The URLs of the sources that were reported.
    source_urls: HashSet<String>,
    has_tool_calls: bool,
    finish_reason: Option<String>,
    is_blocked: bool,
    usage: ApiUsage,
}

/// The text or reasoning part that is open.
struct OpenPart {
    id: String,
    is_text: bool,
    signature: Option<String>,
    citations: Vec<Citation>,
}

/// A call of one of Google's own tools.
struct ServerCall {
    /// The id that Google gave it.
    provider_id: Option<String>,
    id: String,
    name: String,
}

/// A call whose arguments are streamed.
struct StreamingCall {
    id: String,
    name: String,
    arguments: Value,
    signature: Option<String>,
}

impl Codec for GeminiCodec {
    const MAX_EVENT: usize = MAX_IMAGE_EVENT;

    fn decode_event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if !json::has_object(data)? {
            return Ok(());
        }
        let mut spare = String::new();
        let chunk: Chunk<'_> = json::parse(data, &mut spare).map_err(|error| parse_error("a chunk", &error))?;
        if let Some(error) = chunk.error {
            return Err(model_error(&error));
        }
        self.usage = chunk.usage_metadata.unwrap_or(self.usage);
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            (self.is_blocked, self.finish_reason) = (true, Some(reason));
        }
        match chunk.candidates.list("candidates")?.first() {
            Some(first) => match json::object_entry(first, "candidates")? {
                Some(candidate) => self.read_candidate(candidate, parts),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The stream has no end marker; a reply is complete if it has a finish reason.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(raw) = self.finish_reason.take() else {
            return Err(stream_error("the stream ended without a finish reason: `finishReason` is missing"));
        };
        self.end_part(parts);
        // An incomplete call is accepted only if the model finished normally.
        if raw == "STOP" {
            self.end_call(parts);
        } else if self.call.is_some() {
            return Err(stream_error("the reply ended in the middle of a tool call"));
        }
        let reason =
            if self.is_blocked { FinishReason::ContentFilter } else { finish_reason(&raw, self.has_tool_calls) };
        parts.push(Part::Finish { reason, raw_reason: Some(raw), usage: to_usage(&self.usage), metadata: None });
        Ok(())
    }

    /// Token counts may follow the last text, so only the end of the stream completes the reply.
    fn is_complete(&self) -> bool {
        false
    }
}

impl GeminiCodec {
    fn read_candidate(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let (mut spare, mut spare_content) = (String::new(), String::new());
        let candidate: Candidate<'_> = json::parse(raw, &mut spare).map_err(|error| parse_error("a chunk", &error))?;
        if let Some(raw) = candidate.content.object("content")? {
            let content: Content<'_> =
                json::parse(raw, &mut spare_content).map_err(|error| parse_error("`content`", &error))?;
            for entry in content.parts.list("parts")? {
                if let Some(part) = json::object_entry(entry, "parts")? {
                    self.read_part(part, parts)?;
                }
            }
        }
        if let Some(grounding) = candidate.grounding_metadata {
            let named = grounding::sources(&grounding);
            if let Some(open) = self.open.as_mut().filter(|open| open.is_text) {
                let citations = grounding::citations(&grounding, &named);
                // Each chunk may repeat the citations of earlier ones.
                open.citations = if citations.is_empty() { std::mem::take(&mut open.citations) } else { citations };
            }
            self.push_sources(named.into_iter().flatten(), parts)?;
        }
        if let Some(fetched) = candidate.url_context_metadata {
            self.push_sources(grounding::fetched_pages(&fetched), parts)?;
        }
        self.finish_reason = candidate.finish_reason.or(self.finish_reason.take());
        Ok(())
    }

    fn read_part(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut spare = String::new();
        let part: ApiPart<'_> =
            json::parse(raw, &mut spare).map_err(|error| parse_error("a part of a chunk", &error))?;
        let signature = part.thought_signature;
        if let Some(raw) = part.function_call.object("functionCall")? {
            let call = json::parse_owned(raw).map_err(|error| parse_error("`functionCall`", &error))?;
            self.end_part(parts);
            return self.push_function_call(call, signature, parts);
        }
        if let Some(text) = part.text {
            self.push_text(text, part.thought != Some(true), signature, parts);
            return Ok(());
        }
        self.end_part(parts);
        let inline = part.inline_data.and_then(|file| Some((file.mime_type, file.data?)));
        let kept = part.file_data.and_then(|file| Some((file.mime_type, file.file_uri?)));
        if let Some((media_type, content)) = inline.clone().or(kept) {
            let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            let url = if inline.is_some() { format!("data:{media_type};base64,{content}") } else { content };
            parts.push(Part::File { media_type, url, metadata: signature.map(signature_metadata) });
            return Ok(());
        }
        self.buffered.add(raw.len())?;
        let before = parts.len();
        if let Some(code) = part.executable_code {
            let id = text_from_value(&code["id"]);
            self.begin_server_call(id, "code_execution".to_owned(), code, parts)?;
        } else if let Some(result) = part.code_execution_result {
            let output = result.get("output").cloned().unwrap_or_else(|| "".into());
            let output = json!({ "outcome": result["outcome"], "output": output });
            self.end_server_call(text_from_value(&result["id"]), "code_execution".to_owned(), output, parts)?;
        } else if let Some(tool) = part.tool_call {
            let name = format!("server:{}", tool.tool_type.unwrap_or_default());
            self.begin_server_call(tool.id, name, tool.args.unwrap_or_else(|| json!({})), parts)?;
        } else if let Some(tool) = part.tool_response {
            let name = format!("server:{}", tool.tool_type.unwrap_or_default());
            self.end_server_call(tool.id, name, tool.response.unwrap_or_else(|| json!({})), parts)?;
        }
        // Parts of unknown kinds, too, are sent back as received.
        let item = serde_json::from_str(raw).unwrap_or(Value::Null);
        let shown_as = if parts.len() > before { None } else { item_kind(&item) };
        parts.push(Part::ProviderItem { provider: PROVIDER.to_owned(), item, shown_as });
        Ok(())
    }

    /// Appends text or reasoning. A signature often arrives with an empty text after what it signs.
    fn push_text(&mut self, delta: String, is_text: bool, signature: Option<String>, parts: &mut Vec<Part>) {
        if delta.is_empty() && signature.is_none() {
            return;
        }
        let fits = self.open.as_ref().is_some_and(|open| open.is_text == is_text || delta.is_empty());
        if !fits {
            self.end_part(parts);
            let id = self.part_count.to_string();
            self.part_count += 1;
            parts.push(if is_text {
                Part::TextStart { id: id.clone() }
            } else {
                Part::ReasoningStart { id: id.clone(), metadata: None }
            });
            self.open = Some(OpenPart { id, is_text, signature: None, citations: Vec::new() });
        }
        let Some(open) = &mut self.open else { return };
        open.signature = signature.or(open.signature.take());
        if !delta.is_empty() {
            let id = open.id.clone();
            parts.push(if is_text {
                Part::TextDelta { id, delta }
            } else {
                Part::ReasoningDelta { id, delta, metadata: None }
            });
        }
    }

    fn end_part(&mut self, parts: &mut Vec<Part>) {
        parts.extend(self.open.take().map(|OpenPart { id, is_text, signature, citations }| {
            let metadata = signature.map(signature_metadata);
            if is_text { Part::TextEnd { id, metadata, citations } } else { Part::ReasoningEnd { id, metadata } }
        }));
    }

    fn push_function_call(
        &mut self,
        piece: FunctionCall,
        signature: Option<String>,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let goes_on = piece.is_incomplete();
        let is_more = piece.partial_args.is_some();
        if let Some(name) = piece.name {
            // The end of a call may be missing; the next call ends it, too.
            self.end_call(parts);
            let is_whole = !goes_on && !is_more;
            if let Some(id) = piece.id.as_ref().filter(|_| is_whole)
                && !self.seen_calls.insert(format!("{id} {name} {}", piece.args.as_ref().unwrap_or(&Value::Null)))
            {
                return Ok(());
            }
            let (id, name) = (self.calls.assign(piece.id)?, tool_name_or_default(Some(name)));
            parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
            let arguments = match piece.args {
                Some(Value::String(json)) => serde_json::from_str(&json).unwrap_or(Value::String(json)),
                Some(Value::Null) | None => json!({}),
                Some(arguments) => arguments,
            };
            self.buffered.add(arguments.to_string().len())?;
            self.call = Some(StreamingCall { id, name, arguments, signature: None });
        }
        let Some(call) = &mut self.call else { return Ok(()) };
        // It may arrive with any piece of the call.
        call.signature = signature.or(call.signature.take());
        for argument in piece.partial_args.into_iter().flatten() {
            self.buffered.add(argument.string_value.as_ref().map_or(16, String::len))?;
            arguments::insert_value(&mut call.arguments, argument);
        }
        // The values arrive in any order, so there are no JSON deltas to report yet.
        if !goes_on {
            self.end_call(parts);
        }
        Ok(())
    }

    fn end_call(&mut self, parts: &mut Vec<Part>) {
        let Some(StreamingCall { id, name, arguments, signature }) = self.call.take() else { return };
        self.has_tool_calls = true;
        let input = arguments.to_string();
        parts.push(Part::ToolInputDelta { id: id.clone(), delta: input.clone() });
        let metadata = signature.map(signature_metadata);
        parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
    }

    fn begin_server_call(
        &mut self,
        id: Option<String>,
        name: String,
        input: Value,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let given = id.clone();
        let id = self.calls.assign(id)?;
        self.server_calls.push(ServerCall { provider_id: given, id: id.clone(), name: name.clone() });
        let input = input.to_string();
        parts.push(Part::ToolCall { id, name, input, provider_executed: true, metadata: None });
        Ok(())
    }

    /// Appends a result for the call that it names, or for the newest one. A missing call is
    /// appended before its result.
    fn end_server_call(
        &mut self,
        given: Option<String>,
        name: String,
        output: Value,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        if self.server_calls.is_empty() {
            self.begin_server_call(given.clone(), name, json!({}), parts)?;
        }
        let named = self.server_calls.iter().rposition(|running| given.is_some() && running.provider_id == given);
        let at = named.or_else(|| self.server_calls.len().checked_sub(1));
        if let Some(ServerCall { id, name, .. }) = at.map(|at| self.server_calls.remove(at)) {
            parts.push(Part::ToolResult { id, name, output, is_error: false, metadata: None });
        }
        Ok(())
    }

    /// Appends sources. Each chunk may repeat the sources of earlier ones.
    fn push_sources(
        &mut self,
        named: impl Iterator<Item = GroundingSource>,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        for named in named {
            if self.source_urls.contains(named.address()) {
                continue;
            }
            self.buffered.add(named.address().len())?;
            self.source_urls.insert(named.address().to_owned());
            parts.push(Part::Source(named.to_source(format!("source-{}", self.source_urls.len()))));
        }
        Ok(())
    }
}

/// Returns the kind of a part, which is the field that contains it; `None` if it only signs another.
fn item_kind(part: &Value) -> Option<String> {
    let mut fields = part.as_object()?.keys();
    fields.find(|field| !matches!(field.as_str(), "thought" | "thoughtSignature")).cloned()
}

fn finish_reason(raw: &str, has_called: bool) -> FinishReason {
    match raw {
        "STOP" if has_called => FinishReason::ToolCalls,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "IMAGE_SAFETY"
        | "RECITATION"
        | "IMAGE_RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "IMAGE_PROHIBITED_CONTENT"
        | "SPII" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => FinishReason::Error,
        _ => FinishReason::Other,
    }
}

fn to_usage(usage: &ApiUsage) -> Usage {
    let tokens = |count: Option<crate::lenient::TokenCount>| count.unwrap_or_default().0;
    let thoughts = tokens(usage.thoughts_token_count);
    Usage {
        input_tokens: tokens(usage.prompt_token_count).saturating_add(tokens(usage.tool_use_prompt_token_count)),
        output_tokens: tokens(usage.candidates_token_count).saturating_add(thoughts),
        cache_read_tokens: tokens(usage.cached_content_token_count),
        cache_write_tokens: 0,
        reasoning_tokens: thoughts,
    }
}

/// Creates metadata that is sent back to Google with a part.
fn signature_metadata(signature: String) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ "thoughtSignature": signature }))])
}

fn model_error(error: &Failure) -> ModelError {
    let status = error.status.as_deref().unwrap_or_default();
    let kind = match (error.code, status) {
        (Some(401 | 403), _) | (_, "UNAUTHENTICATED" | "PERMISSION_DENIED") => ModelErrorKind::Unauthorized,
        (Some(429), _) | (_, "RESOURCE_EXHAUSTED") => ModelErrorKind::RateLimited,
        (Some(408 | 409), _) => ModelErrorKind::Unavailable,
        (Some(400..500), _) | (_, "INVALID_ARGUMENT" | "NOT_FOUND" | "FAILED_PRECONDITION") => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    };
    reported_error(kind, format!("{status}: {}", error.message.as_deref().unwrap_or("error")))
}
