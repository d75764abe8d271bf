//! JSON for server functions and resources, read in two steps.

use bytes::Bytes;
use leptos::server::codee::{Decoder, Encoder};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use server_fn::codec::Post;
use server_fn::{ContentType, Decodes, Encodes, Format, FormatType};

/// JSON that is read into a `Value` first and from there into its type. What serde derives for a type is compiled once for each
/// source that it is read from: so there is one source only, which makes the download smaller.
pub struct ValueJson;

/// A server function's arguments or answer as [`ValueJson`], in the body of a `POST`.
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
        read(text)
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
        read(text)
    }
}

/// What a server function answers that has nothing to tell: `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done;

impl Serialize for Done {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Done {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|_| Self)
    }
}

/// What a server function answers that has made something: its id. Read by hand, since what serde says about a text that is none brings
/// the tables for numbers with a fraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made(pub String);

impl Serialize for Made {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Made {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(id) => Ok(Self(id)),
            _ => Err(D::Error::custom("an id is a text")),
        }
    }
}

/// From text, as the stream's chunks are read: another kind of input would bring the whole JSON reader a second time.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Value>(text).and_then(serde_json::from_value)
}
