//! The events of a Messages stream, as far as they are understood. Everything is optional and read leniently (see [`crate::json`]):
//! what a later version leaves out, adds or writes in another shape must not break a stream.

use crate::json::{Needed, name, number, object, or_none, text};
use crate::lenient::Count;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Any event; which fields are there follows from `kind`.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "name")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) index: Option<u64>,
    #[serde(default, borrow)]
    pub(crate) delta: Needed<'a>,
    #[serde(default, borrow)]
    pub(crate) content_block: Needed<'a>,
    #[serde(borrow)]
    pub(crate) message: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
    /// Of `message_delta`.
    #[serde(default, deserialize_with = "object")]
    pub(crate) context_management: Option<ContextManagement>,
}

/// What a `content_block_delta` or `message_delta` brings.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(default, deserialize_with = "text")]
    pub(crate) text: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) thinking: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) signature: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) partial_json: Option<String>,
    #[serde(borrow)]
    pub(crate) citation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) stop_reason: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) container: Option<Container>,
}

/// Of `message_start`.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) stop_reason: Option<String>,
    /// Blocks that are complete from the start: calls that a program of the provider's made.
    #[serde(default, borrow)]
    pub(crate) content: Needed<'a>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) container: Option<Container>,
    /// Present where a gateway converted a complete message to events.
    #[serde(default, deserialize_with = "object")]
    pub(crate) context_management: Option<ContextManagement>,
}

/// The changes that the provider made to the context before the model read it.
#[derive(Debug, Deserialize)]
pub(crate) struct ContextManagement {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) applied_edits: Option<Vec<Value>>,
}

/// One applied edit.
#[derive(Debug, Deserialize)]
pub(crate) struct AppliedEdit {
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub(crate) kind: Option<String>,
    pub(crate) cleared_tool_uses: Option<Count>,
    pub(crate) cleared_thinking_turns: Option<Count>,
    pub(crate) cleared_input_tokens: Option<Count>,
}

/// Where the provider runs code; a later request may go on in it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Container {
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) expires_at: Option<String>,
}

/// The start of a block that is understood.
#[derive(Debug, Deserialize)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "name")]
    kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) text: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) thinking: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) signature: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) data: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
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

impl Block<'_> {
    /// Its type, or what it must be by its fields where that cannot be read.
    pub(crate) fn kind(&self) -> &str {
        match &*self.kind {
            "" if self.text.is_some() => "text",
            "" if self.thinking.is_some() => "thinking",
            "" if self.input.is_some() && self.name.is_some() => "tool_use",
            kind => kind,
        }
    }
}

/// Tokens. `input_tokens` leaves out what went through the cache.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<Count>,
    pub(crate) output_tokens: Option<Count>,
    pub(crate) cache_read_input_tokens: Option<Count>,
    pub(crate) cache_creation_input_tokens: Option<Count>,
    #[serde(default, deserialize_with = "object")]
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
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub(crate) kind: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}
