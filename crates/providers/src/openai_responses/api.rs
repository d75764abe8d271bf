//! The events of a Responses stream, as far as they are understood. Everything is optional: what a later version leaves out or
//! adds must not break a stream.

use crate::lenient::{Count, or_none};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Any event; which fields are there follows from `kind`.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) output_index: u64,
    #[serde(default)]
    pub(crate) summary_index: u64,
    pub(crate) delta: Option<String>,
    #[serde(borrow)]
    pub(crate) item: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) annotation: Option<Annotation>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) response: Option<Response>,
    /// Of an `error` event; older ones have the fields in the event itself.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) error: Option<Failure>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) message: Option<String>,
}

/// An item of the output that is understood.
#[derive(Debug, Deserialize)]
pub(crate) struct Item {
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    pub(crate) call_id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<String>,
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
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    pub(crate) url: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) file_id: Option<String>,
    pub(crate) filename: Option<String>,
    pub(crate) container_id: Option<String>,
    pub(crate) index: Option<u64>,
    pub(crate) start_index: Option<u64>,
    pub(crate) end_index: Option<u64>,
}

/// The response as a whole.
#[derive(Debug, Deserialize)]
pub(crate) struct Response {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) incomplete_details: Option<Incomplete>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) error: Option<Failure>,
}

/// Why a response is incomplete.
#[derive(Debug, Deserialize)]
pub(crate) struct Incomplete {
    pub(crate) reason: Option<String>,
}

/// What failed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) code: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) message: Option<String>,
}

/// Tokens; `input_tokens` holds the cached ones.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<Count>,
    pub(crate) output_tokens: Option<Count>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) input_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "or_none")]
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
