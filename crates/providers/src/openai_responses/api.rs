//! The events of a Responses stream. Everything is optional and parsed leniently (see
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
    /// The index of the item in the output. It is stable even if a gateway gives an item another id
    /// in each event.
    #[serde(default, deserialize_with = "number")]
    pub(crate) output_index: Option<u64>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) item_id: Option<String>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) summary_index: Option<u64>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) delta: Option<String>,
    #[serde(borrow)]
    pub(crate) item: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) annotation: Option<Annotation>,
    #[serde(borrow)]
    pub(crate) response: Option<&'a RawValue>,
    /// In an `error` event; older ones have these fields in the event itself.
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}

/// An output item of a known type.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Item {
    #[serde(rename = "type", default, deserialize_with = "text")]
    pub(crate) kind: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) call_id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) name: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) arguments: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) encrypted_content: Option<String>,
    /// In a message: whether it is a comment or the final answer. Sent back with the message.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) phase: Option<String>,
    /// In a call: the program at the provider that made it. Sent back with the call.
    #[serde(default)]
    pub(crate) caller: Option<Value>,
    /// In a call: the namespace of a function that the API's search has found. A call is refused without it.
    #[serde(default, deserialize_with = "text")]
    pub(crate) namespace: Option<String>,
}

/// A citation in a text.
#[derive(Debug, Deserialize)]
pub(crate) struct Annotation {
    #[serde(rename = "type", default, deserialize_with = "text")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) url: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) title: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) file_id: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) filename: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) container_id: Option<String>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) index: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) start_index: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(crate) end_index: Option<u64>,
}

impl Annotation {
    /// Returns the type; empty if it is absent.
    pub(crate) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }
}

/// The complete response.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Response<'a> {
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) incomplete_details: Option<Incomplete>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
    /// All items of the response, repeated.
    #[serde(default, borrow)]
    pub(crate) output: StrictField<'a>,
}

/// The reason why a response is incomplete.
#[derive(Debug, Deserialize)]
pub(crate) struct Incomplete {
    #[serde(default, deserialize_with = "text")]
    pub(crate) reason: Option<String>,
}

/// An error.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(default, deserialize_with = "text")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}

/// Token counts; `input_tokens` includes cached tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<TokenCount>,
    pub(crate) output_tokens: Option<TokenCount>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) input_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) output_tokens_details: Option<OutputDetails>,
}

/// Details of the input tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct InputDetails {
    pub(crate) cached_tokens: Option<TokenCount>,
}

/// Details of the output tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct OutputDetails {
    pub(crate) reasoning_tokens: Option<TokenCount>,
}
