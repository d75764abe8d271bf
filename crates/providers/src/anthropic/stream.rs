//! Messages events → parts, without I/O.

use super::PROVIDER;
use super::api::{Delta, Event, Failure, Message, Usage as ApiUsage};
use super::block::Block;
use crate::driver::{Codec, broken};
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
    state: State,
    message_id: Option<String>,
    is_begun: bool,
    usage: ApiUsage,
    stop_reason: Option<String>,
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
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|error| broken(format!("an event cannot be read: {error}")))?;
        match &*event.kind {
            "content_block_delta" => match event.delta {
                Some(delta) => self.delta(event.index, delta, data, parts),
                None => Ok(()),
            },
            "content_block_start" => match event.content_block {
                Some(block) => self.start(event.index, block.get(), parts),
                None => Ok(()),
            },
            "content_block_stop" => {
                self.stop(event.index, parts);
                Ok(())
            }
            "message_start" => self.begin(event.message, parts),
            "message_delta" => {
                self.count(event.usage);
                self.stop_reason = event.delta.and_then(|delta| delta.stop_reason).or(self.stop_reason.take());
                Ok(())
            }
            "message_stop" => self.finish(parts),
            "ping" => {
                self.alive(parts);
                Ok(())
            }
            _ => event.error.map_or(Ok(()), |error| Err(failure(&error))),
        }
    }

    fn end(&mut self, _: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.is_complete { Ok(()) } else { Err(broken("the stream ended before message_stop")) }
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
        for block in message.content.unwrap_or_default() {
            Block::start(block.get(), &mut self.state, parts)?.stop(parts);
        }
        Ok(())
    }

    fn start(&mut self, index: u64, raw: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        self.replace(index, parts)?;
        if self.open.len() >= MAX_OPEN {
            return Err(broken("too many open blocks"));
        }
        self.open.push((index, Block::start(raw, &mut self.state, parts)?));
        Ok(())
    }

    /// A delta for a block that is not open belongs to one that is not understood.
    fn delta(&mut self, index: u64, delta: Delta<'_>, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        match self.open.iter_mut().rfind(|(known, _)| *known == index) {
            Some((_, block)) => block.delta(delta, data, &mut self.state, parts),
            None => Ok(()),
        }
    }

    /// Makes place for a block where one is still open.
    fn replace(&mut self, index: u64, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let open = self.open.iter().find(|(known, _)| *known == index);
        if open.is_some_and(|(_, block)| !block.can_end_early()) {
            return Err(broken("a block began in the middle of a tool call"));
        }
        self.stop(index, parts);
        Ok(())
    }

    fn stop(&mut self, index: u64, parts: &mut Vec<Part>) {
        if let Some(at) = self.open.iter().rposition(|(known, _)| *known == index) {
            self.open.remove(at).1.stop(parts);
        }
    }

    /// While a model thinks, pings are all that comes. They go on as an empty delta, so that no one who waits for parts takes
    /// the silence for a broken connection (F6).
    fn alive(&self, parts: &mut Vec<Part>) {
        parts.extend(self.open.last().and_then(|(_, block)| block.alive()));
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
                return Err(broken("the message ended in the middle of a tool call"));
            }
            block.stop(parts);
        }
        self.is_complete = true;
        let raw_reason = self.stop_reason.take();
        let reason = reason(raw_reason.as_deref());
        parts.push(Part::Finish { reason, raw_reason, usage: usage(&self.usage), metadata: None });
        Ok(())
    }
}

fn reason(raw: Option<&str>) -> FinishReason {
    match raw {
        Some("end_turn" | "stop_sequence") => FinishReason::Stop,
        Some("pause_turn") => FinishReason::Pause,
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

fn failure(error: &Failure) -> ModelError {
    let kind = match &*error.kind {
        "invalid_request_error" | "not_found_error" | "request_too_large" | "billing_error" => ModelErrorKind::Refused,
        "authentication_error" | "permission_error" => ModelErrorKind::Unauthorized,
        "rate_limit_error" => ModelErrorKind::RateLimited,
        // `overloaded_error`, `api_error`, `timeout_error`, and what is not known.
        _ => ModelErrorKind::Unavailable,
    };
    let mut cause = format!("{}: {}", error.kind, error.message);
    cause.truncate(cause.floor_char_boundary(2_000));
    ModelError::new(kind, cause)
}
