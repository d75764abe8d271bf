//! Decodes the events of the Messages API to parts, without I/O.

use super::PROVIDER;
use super::api::{Container, ContextManagement, Delta, Event, Failure, Message, Usage as ApiUsage};
use super::block::{OpenBlock, push_text};
use super::{container, context_edits, text_delta};
use crate::driver::{Codec, reported_error, stream_error};
use crate::json;
use crate::lenient::{BufferedBytes, CallIds};
use contract::{FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};

/// The maximum number of open blocks; more than one is rare.
const MAX_OPEN: usize = 64;

/// Decodes one reply.
#[derive(Default)]
pub(crate) struct MessagesCodec {
    /// The open blocks with their indexes in the reply.
    open_blocks: Vec<(u64, OpenBlock)>,
    /// The index for a block without one.
    next_index: u64,
    state: ReplyState,
    message_id: Option<String>,
    has_begun: bool,
    usage: ApiUsage,
    stop_reason: Option<String>,
    container: Option<Container>,
    context_management: Option<ContextManagement>,
    is_complete: bool,
}

/// The state that all blocks of a reply share.
#[derive(Default)]
pub(crate) struct ReplyState {
    pub(crate) calls: CallIds,
    pub(crate) buffered: BufferedBytes,
    /// The number of texts and reasoning parts so far; the source of their ids.
    pub(crate) part_count: u64,
    /// The ids and tool names of the calls that the provider runs.
    pub(crate) server_calls: Vec<(String, String)>,
    /// The titles and media types of the fetched documents, in order.
    pub(crate) documents: Vec<(String, String)>,
    /// Whether search results were reported as sources.
    pub(crate) has_search_sources: bool,
    source_count: u64,
}

impl ReplyState {
    /// Returns the id of the next source.
    pub(crate) fn next_source_id(&mut self) -> String {
        self.source_count += 1;
        format!("source-{}", self.source_count)
    }
}

impl Codec for MessagesCodec {
    fn decode_event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if let Some((index, text)) = text_delta::read(data)
            && let Some(id) = self.open_text(index)
        {
            push_text(id, Some(text), parts);
            return Ok(());
        }
        if !json::has_object(data)? {
            return Ok(());
        }
        let (mut spare, mut spare_delta) = (String::new(), String::new());
        let event: Event<'_> = json::parse(data, &mut spare).map_err(|error| json::parse_error("an event", &error))?;
        match &*event.kind {
            "content_block_delta" => match event.delta.object("delta")? {
                Some(raw) => {
                    let delta =
                        json::parse(raw, &mut spare_delta).map_err(|error| json::parse_error("`delta`", &error))?;
                    self.push_delta(event.index, delta, raw, parts)
                }
                None => Ok(()),
            },
            "content_block_start" => match event.content_block.object("content_block")? {
                Some(block) => self.start_block(event.index, block, parts),
                None => Ok(()),
            },
            "content_block_stop" => {
                let newest = self.open_blocks.last().map(|(index, _)| *index);
                event.index.or(newest).into_iter().for_each(|index| self.stop_block(index, parts));
                Ok(())
            }
            "message_start" => {
                let message = event.message.and_then(|raw| json::parse(raw.get(), &mut spare_delta).ok());
                self.begin_message(message, parts)
            }
            "message_delta" => {
                self.update_usage(event.usage);
                self.context_management = event.context_management.or(self.context_management.take());
                let delta = event.delta.object("delta").ok().flatten();
                let delta: Delta<'_> =
                    delta.and_then(|raw| json::parse(raw, &mut spare_delta).ok()).unwrap_or_default();
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.container = delta.container.or(self.container.take());
                Ok(())
            }
            "message_stop" => self.finish(parts),
            "error" => Err(model_error(event.error.unwrap_or_default())),
            _ => event.error.map_or(Ok(()), |error| Err(model_error(error))),
        }
    }

    fn end(&mut self, _: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { Err(stream_error("the stream ended before `message_stop`")) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl MessagesCodec {
    fn begin_message(&mut self, message: Option<Message<'_>>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(message) = message else { return Ok(()) };
        if self.has_begun {
            // A gateway sent the request twice and concatenated the replies. A repeated start of
            // the same message is harmless.
            let is_same = message.id == self.message_id;
            return if is_same {
                Ok(())
            } else {
                Err(stream_error("another `message_start` came before `message_stop`"))
            };
        }
        self.has_begun = true;
        self.message_id = message.id;
        self.update_usage(message.usage);
        self.stop_reason = message.stop_reason;
        self.container = message.container;
        self.context_management = message.context_management;
        for block in message.content.list("content").unwrap_or_default() {
            if let Some(block) = json::object_entry(block, "content")? {
                OpenBlock::start(block, &mut self.state, parts)?.finish(parts);
            }
        }
        Ok(())
    }

    fn start_block(&mut self, index: Option<u64>, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let index = index.unwrap_or(self.next_index);
        if self.open_blocks.iter().any(|(known, block)| *known == index && block.is_started_by(raw)) {
            return Ok(());
        }
        self.next_index = self.next_index.max(index.saturating_add(1));
        self.end_open_block(index, parts)?;
        if self.open_blocks.len() >= MAX_OPEN {
            return Err(stream_error("too many open blocks"));
        }
        self.open_blocks.push((index, OpenBlock::start(raw, &mut self.state, parts)?));
        Ok(())
    }

    /// Returns the id of the text that is open at an index.
    fn open_text(&self, index: u64) -> Option<&str> {
        match self.open_blocks.iter().rfind(|(known, _)| *known == index)? {
            (_, OpenBlock::Text { id, .. }) => Some(id),
            _ => None,
        }
    }

    /// Adds a delta to its block; `raw` is the delta as received. A delta of text or thinking
    /// without a block begins one.
    ///
    /// # Errors
    /// If the block does not accept it, or if it belongs to a call that has not begun: the name of that
    /// call is unknown.
    fn push_delta(
        &mut self,
        index: Option<u64>,
        delta: Delta<'_>,
        raw: &str,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let is_open = |known: u64| index.is_none_or(|index| index == known);
        if !self.open_blocks.iter().any(|(known, _)| is_open(*known)) {
            match delta {
                Delta { text: Some(_), .. } => self.start_block(index, r#"{"type":"text"}"#, parts)?,
                Delta { thinking: Some(_), .. } => self.start_block(index, r#"{"type":"thinking"}"#, parts)?,
                Delta { partial_json: Some(json), .. } if !json.is_empty() => {
                    return Err(stream_error("arguments of a tool call arrived without a `content_block_start`"));
                }
                _ => return Ok(()),
            }
        }
        match self.open_blocks.iter_mut().rfind(|(known, _)| is_open(*known)) {
            Some((_, block)) => block.push_delta(delta, raw, &mut self.state, parts),
            None => Ok(()),
        }
    }

    /// Ends the block that is still open at an index, so that another can begin there.
    fn end_open_block(&mut self, index: u64, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let open = self.open_blocks.iter().find(|(known, _)| *known == index);
        if open.is_some_and(|(_, block)| !block.can_end_early()) {
            return Err(stream_error("a block began in the middle of a tool call: `content_block_stop` is missing"));
        }
        self.stop_block(index, parts);
        Ok(())
    }

    fn stop_block(&mut self, index: u64, parts: &mut Vec<Part>) {
        if let Some(at) = self.open_blocks.iter().rposition(|(known, _)| *known == index) {
            self.open_blocks.remove(at).1.finish(parts);
        }
    }

    /// Updates the token counts; later counts replace earlier ones, field by field.
    fn update_usage(&mut self, news: Option<ApiUsage>) {
        let Some(news) = news else { return };
        let known = self.usage;
        self.usage = ApiUsage {
            input_tokens: news.input_tokens.or(known.input_tokens),
            output_tokens: news.output_tokens.or(known.output_tokens),
            cache_read_input_tokens: news.cache_read_input_tokens.or(known.cache_read_input_tokens),
            cache_creation_input_tokens: news.cache_creation_input_tokens.or(known.cache_creation_input_tokens),
            output_tokens_details: news.output_tokens_details.or(known.output_tokens_details),
        };
    }

    fn finish(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        for (_, block) in self.open_blocks.drain(..) {
            if !block.can_end_early() {
                return Err(stream_error(
                    "the message ended in the middle of a tool call: `content_block_stop` is missing",
                ));
            }
            block.finish(parts);
        }
        self.is_complete = true;
        parts.extend(self.container.take().and_then(container::item));
        parts.extend(self.context_management.take().and_then(context_edits::part));
        let raw_reason = self.stop_reason.take();
        let reason = finish_reason(raw_reason.as_deref());
        parts.push(Part::Finish { reason, raw_reason, usage: to_usage(&self.usage), metadata: None });
        Ok(())
    }
}

fn finish_reason(raw: Option<&str>) -> FinishReason {
    match raw {
        Some("end_turn" | "stop_sequence") => FinishReason::Stop,
        // With `pause_after_compaction`, the model continues from its summary when asked again.
        Some("pause_turn" | "compaction") => FinishReason::Pause,
        Some("tool_use") => FinishReason::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

fn to_usage(usage: &ApiUsage) -> Usage {
    let tokens = |count: Option<crate::lenient::TokenCount>| count.unwrap_or_default().0;
    let (read, written) = (tokens(usage.cache_read_input_tokens), tokens(usage.cache_creation_input_tokens));
    Usage {
        input_tokens: tokens(usage.input_tokens).saturating_add(read).saturating_add(written),
        output_tokens: tokens(usage.output_tokens),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: tokens(usage.output_tokens_details.and_then(|details| details.thinking_tokens)),
    }
}

/// Creates metadata that is sent back to Anthropic with a part.
pub(crate) fn provider_metadata(key: &str, value: Value) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ key: value }))])
}

fn model_error(error: Failure) -> ModelError {
    let (name, message) = (error.kind.unwrap_or_default(), error.message.unwrap_or_default());
    let kind = match &*name {
        "invalid_request_error" | "not_found_error" | "request_too_large" | "billing_error" => ModelErrorKind::Refused,
        "authentication_error" | "permission_error" => ModelErrorKind::Unauthorized,
        "rate_limit_error" => ModelErrorKind::RateLimited,
        // `overloaded_error`, `api_error`, `timeout_error`, and unknown ones.
        _ => ModelErrorKind::Unavailable,
    };
    reported_error(kind, format!("{name}: {message}"))
}
