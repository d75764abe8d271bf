//! Gemini's chunks → parts, without I/O.

use super::PROVIDER;
use super::api::{Candidate, Chunk, Content, Failure, FunctionCall, Part as ApiPart, Usage as ApiUsage};
use super::arguments;
use super::grounding::{self, Named};
use crate::driver::{Codec, MAX_IMAGE_EVENT, broken};
use crate::json::{self, text_in, unreadable};
use crate::lenient::{CallIds, Held, tool_name};
use contract::{Citation, FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    open: Option<Open>,
    /// Texts and reasonings so far, which gives each its id.
    named: u64,
    call: Option<Call>,
    calls: CallIds,
    held: Held,
    /// Calls that came with an id of Google's, with their arguments: one that is repeated is made once.
    told: HashSet<String>,
    /// Calls of tools that Google runs and has not answered.
    running: Vec<Running>,
    /// The addresses of the sources that were told.
    sources: HashSet<String>,
    has_called: bool,
    finish_reason: Option<String>,
    blocked: bool,
    usage: ApiUsage,
}

/// What is being written.
struct Open {
    id: String,
    is_text: bool,
    signature: Option<String>,
    citations: Vec<Citation>,
}

/// A call of a tool that Google runs.
struct Running {
    /// As Google gave it.
    given: Option<String>,
    id: String,
    name: String,
}

/// A call whose arguments stream.
struct Call {
    id: String,
    name: String,
    arguments: Value,
    signature: Option<String>,
}

impl Codec for Reader {
    const MAX_EVENT: usize = MAX_IMAGE_EVENT;

    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if !json::is_event(data)? {
            return Ok(());
        }
        let mut spare = String::new();
        let chunk: Chunk<'_> = json::read(data, &mut spare).map_err(|error| unreadable("a chunk", &error))?;
        if let Some(error) = chunk.error {
            return Err(failure(&error));
        }
        self.usage = chunk.usage_metadata.unwrap_or(self.usage);
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            (self.blocked, self.finish_reason) = (true, Some(reason));
        }
        match chunk.candidates.list("candidates")?.first() {
            Some(first) => match json::entry(first, "candidates")? {
                Some(candidate) => self.candidate(candidate, parts),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The stream has no mark for its end; a reply is complete when a reason for its end has come.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(raw) = self.finish_reason.take() else {
            return Err(broken("the stream ended without a finish reason: no `finishReason` came"));
        };
        self.close(parts);
        // A call that is not complete says nothing unless the model says that it has said all.
        if raw == "STOP" {
            self.end_call(parts);
        } else if self.call.is_some() {
            return Err(broken("the reply ended in the middle of a tool call"));
        }
        let reason = if self.blocked { FinishReason::ContentFilter } else { reason(&raw, self.has_called) };
        parts.push(Part::Finish { reason, raw_reason: Some(raw), usage: usage(&self.usage), metadata: None });
        Ok(())
    }

    /// Counts of tokens may follow the last word, so only the stream's end is the end.
    fn is_complete(&self) -> bool {
        false
    }
}

impl Reader {
    fn candidate(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let (mut spare, mut spare_content) = (String::new(), String::new());
        let candidate: Candidate<'_> = json::read(raw, &mut spare).map_err(|error| unreadable("a chunk", &error))?;
        if let Some(raw) = candidate.content.object("content")? {
            let content: Content<'_> =
                json::read(raw, &mut spare_content).map_err(|error| unreadable("`content`", &error))?;
            for entry in content.parts.list("parts")? {
                if let Some(part) = json::entry(entry, "parts")? {
                    self.part(part, parts)?;
                }
            }
        }
        if let Some(grounding) = candidate.grounding_metadata {
            let named = grounding::sources(&grounding);
            if let Some(open) = self.open.as_mut().filter(|open| open.is_text) {
                let citations = grounding::citations(&grounding, &named);
                // Each chunk may name the passages of those before it again.
                open.citations = if citations.is_empty() { std::mem::take(&mut open.citations) } else { citations };
            }
            self.tell_sources(named.into_iter().flatten(), parts)?;
        }
        if let Some(fetched) = candidate.url_context_metadata {
            self.tell_sources(grounding::pages(&fetched), parts)?;
        }
        self.finish_reason = candidate.finish_reason.or(self.finish_reason.take());
        Ok(())
    }

    fn part(&mut self, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let mut spare = String::new();
        let part: ApiPart<'_> = json::read(raw, &mut spare).map_err(|error| unreadable("a part of a chunk", &error))?;
        let signature = part.thought_signature;
        if let Some(raw) = part.function_call.object("functionCall")? {
            let call = json::read_owned(raw).map_err(|error| unreadable("`functionCall`", &error))?;
            self.close(parts);
            return self.function_call(call, signature, parts);
        }
        if let Some(text) = part.text {
            self.text(text, part.thought != Some(true), signature, parts);
            return Ok(());
        }
        self.close(parts);
        let inline = part.inline_data.and_then(|file| Some((file.mime_type, file.data?)));
        let kept = part.file_data.and_then(|file| Some((file.mime_type, file.file_uri?)));
        if let Some((media_type, content)) = inline.clone().or(kept) {
            let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            let url = if inline.is_some() { format!("data:{media_type};base64,{content}") } else { content };
            parts.push(Part::File { media_type, url, metadata: signature.map(signed) });
            return Ok(());
        }
        self.held.grow(raw.len())?;
        if let Some(code) = part.executable_code {
            let id = text_in(&code["id"]);
            self.begin_tool(id, "code_execution".to_owned(), code, parts)?;
        } else if let Some(result) = part.code_execution_result {
            let output = result.get("output").cloned().unwrap_or_else(|| "".into());
            let output = json!({ "outcome": result["outcome"], "output": output });
            self.end_tool(text_in(&result["id"]), "code_execution".to_owned(), output, parts)?;
        } else if let Some(tool) = part.tool_call {
            let name = format!("server:{}", tool.tool_type.unwrap_or_default());
            self.begin_tool(tool.id, name, tool.args.unwrap_or_else(|| json!({})), parts)?;
        } else if let Some(tool) = part.tool_response {
            let name = format!("server:{}", tool.tool_type.unwrap_or_default());
            self.end_tool(tool.id, name, tool.response.unwrap_or_else(|| json!({})), parts)?;
        }
        // Also of a kind that is not known: it goes back as it came.
        let item = serde_json::from_str(raw).unwrap_or(Value::Null);
        parts.push(Part::ProviderItem { provider: PROVIDER.to_owned(), item });
        Ok(())
    }

    /// Thoughts and words; a signature often comes with an empty text behind what it signs.
    fn text(&mut self, delta: String, is_text: bool, signature: Option<String>, parts: &mut Vec<Part>) {
        if delta.is_empty() && signature.is_none() {
            return;
        }
        let fits = self.open.as_ref().is_some_and(|open| open.is_text == is_text || delta.is_empty());
        if !fits {
            self.close(parts);
            let id = self.named.to_string();
            self.named += 1;
            parts.push(match is_text {
                true => Part::TextStart { id: id.clone() },
                false => Part::ReasoningStart { id: id.clone(), metadata: None },
            });
            self.open = Some(Open { id, is_text, signature: None, citations: Vec::new() });
        }
        let Some(open) = &mut self.open else { return };
        open.signature = signature.or(open.signature.take());
        if !delta.is_empty() {
            let id = open.id.clone();
            parts.push(match is_text {
                true => Part::TextDelta { id, delta },
                false => Part::ReasoningDelta { id, delta, metadata: None },
            });
        }
    }

    fn close(&mut self, parts: &mut Vec<Part>) {
        parts.extend(self.open.take().map(|Open { id, is_text, signature, citations }| {
            let metadata = signature.map(signed);
            if is_text { Part::TextEnd { id, metadata, citations } } else { Part::ReasoningEnd { id, metadata } }
        }));
    }

    fn function_call(
        &mut self,
        piece: FunctionCall,
        signature: Option<String>,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let goes_on = piece.goes_on();
        let is_more = piece.partial_args.is_some();
        if let Some(name) = piece.name {
            // The piece that ends a call may be missing; the next call ends it, too.
            self.end_call(parts);
            let is_whole = !goes_on && !is_more;
            if let Some(id) = piece.id.as_ref().filter(|_| is_whole)
                && !self.told.insert(format!("{id} {name} {}", piece.args.as_ref().unwrap_or(&Value::Null)))
            {
                return Ok(());
            }
            let (id, name) = (self.calls.name(piece.id)?, tool_name(Some(name)));
            parts.push(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false });
            let arguments = match piece.args {
                Some(Value::String(json)) => serde_json::from_str(&json).unwrap_or(Value::String(json)),
                Some(Value::Null) | None => json!({}),
                Some(arguments) => arguments,
            };
            self.held.grow(arguments.to_string().len())?;
            self.call = Some(Call { id, name, arguments, signature });
        }
        let Some(call) = &mut self.call else { return Ok(()) };
        for argument in piece.partial_args.into_iter().flatten() {
            self.held.grow(argument.string_value.as_ref().map_or(16, String::len))?;
            arguments::put(&mut call.arguments, argument);
        }
        // The pieces come in no order of JSON text, so nothing can be told of them yet.
        if !goes_on {
            self.end_call(parts);
        }
        Ok(())
    }

    fn end_call(&mut self, parts: &mut Vec<Part>) {
        let Some(Call { id, name, arguments, signature }) = self.call.take() else { return };
        self.has_called = true;
        let input = arguments.to_string();
        parts.push(Part::ToolInputDelta { id: id.clone(), delta: input.clone() });
        let metadata = signature.map(signed);
        parts.push(Part::ToolCall { id, name, input, provider_executed: false, metadata });
    }

    fn begin_tool(
        &mut self,
        id: Option<String>,
        name: String,
        input: Value,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let given = id.clone();
        let id = self.calls.name(id)?;
        self.running.push(Running { given, id: id.clone(), name: name.clone() });
        let input = input.to_string();
        parts.push(Part::ToolCall { id, name, input, provider_executed: true, metadata: None });
        Ok(())
    }

    /// Tells a result with the call that it names, or the newest one; a call that has not come is told before its result.
    fn end_tool(
        &mut self,
        given: Option<String>,
        name: String,
        output: Value,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        if self.running.is_empty() {
            self.begin_tool(given.clone(), name, json!({}), parts)?;
        }
        let named = self.running.iter().rposition(|running| given.is_some() && running.given == given);
        let at = named.or_else(|| self.running.len().checked_sub(1));
        if let Some(Running { id, name, .. }) = at.map(|at| self.running.remove(at)) {
            parts.push(Part::ToolResult { id, name, output, is_error: false, metadata: None });
        }
        Ok(())
    }

    /// Each chunk may name the sources of those before it again.
    fn tell_sources(&mut self, named: impl Iterator<Item = Named>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        for named in named {
            if self.sources.contains(named.address()) {
                continue;
            }
            self.held.grow(named.address().len())?;
            self.sources.insert(named.address().to_owned());
            parts.push(Part::Source(named.source(format!("source-{}", self.sources.len()))));
        }
        Ok(())
    }
}

fn reason(raw: &str, has_called: bool) -> FinishReason {
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

fn usage(usage: &ApiUsage) -> Usage {
    let tokens = |count: Option<crate::lenient::Count>| count.unwrap_or_default().0;
    let thoughts = tokens(usage.thoughts_token_count);
    Usage {
        input_tokens: tokens(usage.prompt_token_count).saturating_add(tokens(usage.tool_use_prompt_token_count)),
        output_tokens: tokens(usage.candidates_token_count).saturating_add(thoughts),
        cache_read_tokens: tokens(usage.cached_content_token_count),
        cache_write_tokens: 0,
        reasoning_tokens: thoughts,
    }
}

/// What goes back to Google with a part.
fn signed(signature: String) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ "thoughtSignature": signature }))])
}

fn failure(error: &Failure) -> ModelError {
    let status = error.status.as_deref().unwrap_or_default();
    let kind = match (error.code, status) {
        (Some(401 | 403), _) | (_, "UNAUTHENTICATED" | "PERMISSION_DENIED") => ModelErrorKind::Unauthorized,
        (Some(429), _) | (_, "RESOURCE_EXHAUSTED") => ModelErrorKind::RateLimited,
        (Some(408 | 409), _) => ModelErrorKind::Unavailable,
        (Some(400..500), _) | (_, "INVALID_ARGUMENT" | "NOT_FOUND" | "FAILED_PRECONDITION") => ModelErrorKind::Refused,
        _ => ModelErrorKind::Unavailable,
    };
    let mut cause = format!("{status}: {}", error.message.as_deref().unwrap_or("error"));
    cause.truncate(cause.floor_char_boundary(2_000));
    ModelError::new(kind, cause)
}
