//! The JSON codec of server functions and resources.

use bytes::Bytes;
use leptos::server::codee::{Decoder, Encoder};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use server_fn::codec::Post;
use server_fn::{ContentType, Decodes, Encodes, Format, FormatType};

/// A codec that parses JSON into a `Value` first and converts that into the type. The
/// deserialization code that serde derives is compiled once per source format; with a single one
/// the download is smaller.
pub struct ValueJson;

/// The arguments or the result of a server function as [`ValueJson`], in the body of a `POST`.
pub type Json = Post<ValueJson>;

impl ContentType for ValueJson {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for ValueJson {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for ValueJson {
    type Error = serde_json::Error;

    fn encode(output: &T) -> Result<Bytes, Self::Error> {
        serde_json::to_vec(output).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for ValueJson {
    type Error = serde_json::Error;

    fn decode(bytes: Bytes) -> Result<T, Self::Error> {
        let text = std::str::from_utf8(&bytes).map_err(serde_json::Error::custom)?;
        parse_json(text)
    }
}

impl<T: Serialize> Encoder<T> for ValueJson {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Self::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for ValueJson {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Self::Error> {
        parse_json(text)
    }
}

/// The result of a server function without a result: `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoContent;

impl Serialize for NoContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for NoContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|_| Self)
    }
}

/// The id of something that a server function created. Deserialized by hand, since serde's error
/// for a value that is no string pulls in the tables for formatting floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedId(pub String);

impl Serialize for CreatedId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CreatedId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(id) => Ok(Self(id)),
            _ => Err(D::Error::custom("an id must be a string")),
        }
    }
}

/// Parses JSON from text, as the chunks of the stream are parsed: another input type would compile
/// the JSON parser a second time.
pub(in crate::api) fn parse_json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Value>(text).and_then(serde_json::from_value)
}
