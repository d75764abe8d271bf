//! The events of a Messages stream, as far as they are understood. Everything is optional: what a later version leaves out or
//! adds must not break a stream. Texts are borrowed from the event, so that a delta is copied once.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Any event; which fields are there follows from `kind`.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) index: u64,
    #[serde(borrow)]
    pub(crate) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(crate) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) message: Option<Message<'a>>,
    pub(crate) usage: Option<Usage>,
    #[serde(borrow)]
    pub(crate) error: Option<Failure<'a>>,
}

/// What a `content_block_delta` or `message_delta` brings.
#[derive(Debug, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) signature: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) partial_json: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) stop_reason: Option<Cow<'a, str>>,
}

/// Of `message_start`.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    pub(crate) usage: Option<Usage>,
    #[serde(borrow)]
    pub(crate) stop_reason: Option<Cow<'a, str>>,
}

/// The start of a block that is understood.
#[derive(Debug, Deserialize)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) data: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) input: Option<&'a RawValue>,
}

/// Tokens; as floats, because nonsense (negative, huge) must not fail the stream.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<f64>,
    pub(crate) output_tokens: Option<f64>,
    pub(crate) cache_read_input_tokens: Option<f64>,
    pub(crate) cache_creation_input_tokens: Option<f64>,
}

/// Of `error`.
#[derive(Debug, Deserialize)]
pub(crate) struct Failure<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) message: Option<Cow<'a, str>>,
}
