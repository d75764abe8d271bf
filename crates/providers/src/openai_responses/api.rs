//! The events of a Responses stream, as far as they are understood. Everything is optional and read leniently (see [`crate::json`]):
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
    /// The item's place in the output. It stays the same where a gateway gives an item another id with each event.
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
    /// Of an `error` event; older ones have the fields in the event itself.
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}

/// An item of the output that is understood.
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
    /// Of a message: whether it comments on the work or is the answer. Goes back with it.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) phase: Option<String>,
    /// Of a call: the program of the provider's that made it. Goes back with it.
    #[serde(default)]
    pub(crate) caller: Option<Value>,
}

/// Something that a text cites.
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
    /// Its type; empty where it has none.
    pub(crate) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }
}

/// The response as a whole.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Response<'a> {
    #[serde(default, deserialize_with = "object")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) incomplete_details: Option<Incomplete>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) error: Option<Failure>,
    /// All items once more.
    #[serde(default, borrow)]
    pub(crate) output: Needed<'a>,
}

/// Why a response is incomplete.
#[derive(Debug, Deserialize)]
pub(crate) struct Incomplete {
    #[serde(default, deserialize_with = "text")]
    pub(crate) reason: Option<String>,
}

/// What failed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(default, deserialize_with = "text")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(crate) message: Option<String>,
}

/// Tokens; `input_tokens` holds the cached ones.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<Count>,
    pub(crate) output_tokens: Option<Count>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) input_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "object")]
    pub(crate) output_tokens_details: Option<OutputDetails>,
}

/// Of the input.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct InputDetails {
    pub(crate) cached_tokens: Option<Count>,
}

/// Of the output.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct OutputDetails {
    pub(crate) reasoning_tokens: Option<Count>,
}
