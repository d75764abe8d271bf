//! The events of a Messages stream. Everything is optional and parsed leniently (see
//! [`crate::json`]), so that fields which a later version omits, adds or changes do not break a
//! stream.

use crate::json::{StrictField, name, number, object, or_none, text};
use crate::lenient::TokenCount;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Any event; `kind` determines which fields are present.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "name")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) index: Option<u64>,
    #[serde(default, borrow)]
    pub(crate) delta: StrictField<'a>,
    #[serde(default, borrow)]
    pub(crate) content_block: StrictField<'a>,
    #[serde(borrow)]
    pub(crate) message: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
    /// In `message_delta`.
    #[serde(default, deserialize_with = "object")]
    pub(crate) context_management: Option<ContextManagement>,
}

/// The content of a `content_block_delta` or `message_delta`.
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

/// The content of `message_start`.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) stop_reason: Option<String>,
    /// Blocks that are complete from the start: calls that a program at the provider made.
    #[serde(default, borrow)]
    pub(crate) content: StrictField<'a>,
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

/// An applied edit.
#[derive(Debug, Deserialize)]
pub(crate) struct AppliedEdit {
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub(crate) kind: Option<String>,
    pub(crate) cleared_tool_uses: Option<TokenCount>,
    pub(crate) cleared_thinking_turns: Option<TokenCount>,
    pub(crate) cleared_input_tokens: Option<TokenCount>,
}

/// The container in which the provider runs code; later requests can reuse it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Container {
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) expires_at: Option<String>,
}

/// The start of a block of a known type.
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
    /// In a compaction: its text. In a result: any value.
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    /// The program at the provider that made the call, if one did.
    #[serde(borrow)]
    pub(crate) caller: Option<&'a RawValue>,
}

impl Block<'_> {
    /// Returns the type; if it is missing or invalid, the one that the fields imply.
    pub(crate) fn kind(&self) -> &str {
        match &*self.kind {
            "" if self.text.is_some() => "text",
            "" if self.thinking.is_some() => "thinking",
            "" if self.input.is_some() && self.name.is_some() => "tool_use",
            kind => kind,
        }
    }
}

/// Token counts. `input_tokens` does not include cached tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<TokenCount>,
    pub(crate) output_tokens: Option<TokenCount>,
    pub(crate) cache_read_input_tokens: Option<TokenCount>,
    pub(crate) cache_creation_input_tokens: Option<TokenCount>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) output_tokens_details: Option<OutputDetails>,
}

/// Details of the output tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct OutputDetails {
    pub(crate) thinking_tokens: Option<TokenCount>,
}

/// The content of `error`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub(crate) kind: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}
