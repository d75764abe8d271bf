//! The events of a Messages stream, as far as they are understood. Everything is optional: what a later version leaves out or
//! adds must not break a stream.

use crate::lenient::{Count, or_none};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Any event; which fields are there follows from `kind`.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) index: u64,
    #[serde(borrow)]
    pub(crate) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(crate) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) message: Option<Message<'a>>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) error: Option<Failure>,
}

/// What a `content_block_delta` or `message_delta` brings.
#[derive(Debug, Deserialize)]
pub(crate) struct Delta<'a> {
    pub(crate) text: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) signature: Option<String>,
    pub(crate) partial_json: Option<String>,
    #[serde(borrow)]
    pub(crate) citation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    pub(crate) stop_reason: Option<String>,
}

/// Of `message_start`.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage: Option<Usage>,
    pub(crate) stop_reason: Option<String>,
    /// Blocks that are complete from the start: calls that a program of the provider's made.
    #[serde(borrow)]
    pub(crate) content: Option<Vec<&'a RawValue>>,
}

/// The start of a block that is understood.
#[derive(Debug, Deserialize)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(crate) kind: Cow<'a, str>,
    pub(crate) text: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) signature: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    #[serde(borrow)]
    pub(crate) input: Option<&'a RawValue>,
    /// Of a compaction: its text. Of a result: anything.
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    /// Who called, where that was a program of the provider's.
    #[serde(borrow)]
    pub(crate) caller: Option<&'a RawValue>,
}

/// Tokens. `input_tokens` leaves out what went through the cache.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<Count>,
    pub(crate) output_tokens: Option<Count>,
    pub(crate) cache_read_input_tokens: Option<Count>,
    pub(crate) cache_creation_input_tokens: Option<Count>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) output_tokens_details: Option<OutputDetails>,
}

/// Of the output.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct OutputDetails {
    pub(crate) thinking_tokens: Option<Count>,
}

/// Of `error`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) message: String,
}
