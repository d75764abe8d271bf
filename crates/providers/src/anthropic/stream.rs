//! Messages events → parts, without I/O.

use super::PROVIDER;
use super::api::{Container, ContextManagement, Delta, Event, Failure, Message, Usage as ApiUsage};
use super::block::Block;
use super::{container, context_edits};
use crate::driver::{Codec, broken};
use crate::json;
use crate::lenient::{CallIds, Held};
use contract::{FinishReason, ModelError, ModelErrorKind, Part, ProviderMetadata, Usage};
use serde_json::{Map, Value, json};

/// Blocks that may be open at once; more than one is rare.
const MAX_OPEN: usize = 64;

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    /// By their place in the reply.
    open: Vec<(u64, Block)>,
    /// The place of a block that names none.
    next: u64,
    state: State,
    message_id: Option<String>,
    is_begun: bool,
    usage: ApiUsage,
    stop_reason: Option<String>,
    container: Option<Container>,
    context_management: Option<ContextManagement>,
    is_complete: bool,
}

/// What all blocks of a reply share.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) calls: CallIds,
    pub(crate) held: Held,
    /// Texts and reasonings so far, which gives each its id.
    pub(crate) named: u64,
    /// Calls that the provider runs: their ids and tools.
    pub(crate) tools: Vec<(String, String)>,
    /// Titles and kinds of the documents that it fetched, in order.
    pub(crate) documents: Vec<(String, String)>,
    /// Whether a search's results were told.
    pub(crate) has_searched: bool,
    sources: u64,
}

impl State {
    /// The next source's id.
    pub(crate) fn source_id(&mut self) -> String {
        self.sources += 1;
        format!("source-{}", self.sources)
    }
}

impl Codec for Reader {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if !json::is_event(data)? {
            return Ok(());
        }
        let (mut spare, mut spare_delta) = (String::new(), String::new());
        let event: Event<'_> = json::read(data, &mut spare).map_err(|error| json::unreadable("an event", &error))?;
        match &*event.kind {
            "content_block_delta" => match event.delta.object("delta")? {
                Some(raw) => {
                    let delta =
                        json::read(raw, &mut spare_delta).map_err(|error| json::unreadable("`delta`", &error))?;
                    self.delta(event.index, delta, raw, parts)
                }
                None => Ok(()),
            },
            "content_block_start" => match event.content_block.object("content_block")? {
                Some(block) => self.start(event.index, block, parts),
                None => Ok(()),
            },
            "content_block_stop" => {
                let newest = self.open.last().map(|(index, _)| *index);
                event.index.or(newest).into_iter().for_each(|index| self.stop(index, parts));
                Ok(())
            }
            "message_start" => {
                let message = event.message.and_then(|raw| json::read(raw.get(), &mut spare_delta).ok());
                self.begin(message, parts)
            }
            "message_delta" => {
                self.count(event.usage);
                self.context_management = event.context_management.or(self.context_management.take());
                let delta = event.delta.object("delta").ok().flatten();
                let delta: Delta<'_> = delta.and_then(|raw| json::read(raw, &mut spare_delta).ok()).unwrap_or_default();
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.container = delta.container.or(self.container.take());
                Ok(())
            }
            "message_stop" => self.finish(parts),
            "error" => Err(failure(event.error.unwrap_or_default())),
            _ => event.error.map_or(Ok(()), |error| Err(failure(error))),
        }
    }

    fn end(&mut self, _: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { Err(broken("the stream ended before `message_stop`")) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl Reader {
    fn begin(&mut self, message: Option<Message<'_>>, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let Some(message) = message else { return Ok(()) };
        if self.is_begun {
            // A gateway that asked twice and spliced the answers; the same one once more is harmless.
            let is_same = message.id == self.message_id;
            return if is_same { Ok(()) } else { Err(broken("a second message began before the first had ended")) };
        }
        self.is_begun = true;
        self.message_id = message.id;
        self.count(message.usage);
        self.stop_reason = message.stop_reason;
        self.container = message.container;
        self.context_management = message.context_management;
        for block in message.content.list("content").unwrap_or_default() {
            if let Some(block) = json::entry(block, "content")? {
                Block::start(block, &mut self.state, parts)?.stop(parts);
            }
        }
        Ok(())
    }

    fn start(&mut self, index: Option<u64>, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let index = index.unwrap_or(self.next);
        if self.open.iter().any(|(known, block)| *known == index && block.is_begun_by(raw)) {
            return Ok(());
        }
        self.next = self.next.max(index.saturating_add(1));
        self.replace(index, parts)?;
        if self.open.len() >= MAX_OPEN {
            return Err(broken("too many open blocks"));
        }
        self.open.push((index, Block::start(raw, &mut self.state, parts)?));
        Ok(())
    }

    /// Adds a delta to its block, `raw` being the delta as it came. A text or thought whose block has not begun begins it.
    ///
    /// # Errors
    /// When the block cannot take it, or it is for a call that has not begun: nobody knows which one.
    fn delta(
        &mut self,
        index: Option<u64>,
        delta: Delta<'_>,
        raw: &str,
        parts: &mut Vec<Part>,
    ) -> Result<(), ModelError> {
        let is_open = |known: u64| index.is_none_or(|index| index == known);
        if !self.open.iter().any(|(known, _)| is_open(*known)) {
            match delta {
                Delta { text: Some(_), .. } => self.start(index, r#"{"type":"text"}"#, parts)?,
                Delta { thinking: Some(_), .. } => self.start(index, r#"{"type":"thinking"}"#, parts)?,
                Delta { partial_json: Some(json), .. } if !json.is_empty() => {
                    return Err(broken("the arguments of a tool call came without its `content_block_start`"));
                }
                _ => return Ok(()),
            }
        }
        match self.open.iter_mut().rfind(|(known, _)| is_open(*known)) {
            Some((_, block)) => block.delta(delta, raw, &mut self.state, parts),
            None => Ok(()),
        }
    }

    /// Makes place for a block where one is still open.
    fn replace(&mut self, index: u64, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let open = self.open.iter().find(|(known, _)| *known == index);
        if open.is_some_and(|(_, block)| !block.can_end_early()) {
            return Err(broken("a block began in the middle of a tool call: no `content_block_stop` came"));
        }
        self.stop(index, parts);
        Ok(())
    }

    fn stop(&mut self, index: u64, parts: &mut Vec<Part>) {
        if let Some(at) = self.open.iter().rposition(|(known, _)| *known == index) {
            self.open.remove(at).1.stop(parts);
        }
    }

    /// Later counts replace earlier ones, field by field.
    fn count(&mut self, news: Option<ApiUsage>) {
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
        for (_, block) in self.open.drain(..) {
            if !block.can_end_early() {
                return Err(broken("the message ended in the middle of a tool call: no `content_block_stop` came"));
            }
            block.stop(parts);
        }
        self.is_complete = true;
        parts.extend(self.container.take().and_then(container::item));
        parts.extend(self.context_management.take().and_then(context_edits::part));
        let raw_reason = self.stop_reason.take();
        let reason = reason(raw_reason.as_deref());
        parts.push(Part::Finish { reason, raw_reason, usage: usage(&self.usage), metadata: None });
        Ok(())
    }
}

fn reason(raw: Option<&str>) -> FinishReason {
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

fn usage(usage: &ApiUsage) -> Usage {
    let tokens = |count: Option<crate::lenient::Count>| count.unwrap_or_default().0;
    let (read, written) = (tokens(usage.cache_read_input_tokens), tokens(usage.cache_creation_input_tokens));
    Usage {
        input_tokens: tokens(usage.input_tokens).saturating_add(read).saturating_add(written),
        output_tokens: tokens(usage.output_tokens),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: tokens(usage.output_tokens_details.and_then(|details| details.thinking_tokens)),
    }
}

/// What goes back to Anthropic with a part.
pub(crate) fn metadata(key: &str, value: Value) -> ProviderMetadata {
    Map::from_iter([(PROVIDER.to_owned(), json!({ key: value }))])
}

fn failure(error: Failure) -> ModelError {
    let (name, message) = (error.kind.unwrap_or_default(), error.message.unwrap_or_default());
    let kind = match &*name {
        "invalid_request_error" | "not_found_error" | "request_too_large" | "billing_error" => ModelErrorKind::Refused,
        "authentication_error" | "permission_error" => ModelErrorKind::Unauthorized,
        "rate_limit_error" => ModelErrorKind::RateLimited,
        // `overloaded_error`, `api_error`, `timeout_error`, and what is not known.
        _ => ModelErrorKind::Unavailable,
    };
    let mut cause = format!("{name}: {message}");
    cause.truncate(cause.floor_char_boundary(2_000));
    ModelError::new(kind, cause)
}
