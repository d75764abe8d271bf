//! JSON for server functions and resources, read in two steps.

use bytes::Bytes;
use leptos::server::codee::{Decoder, Encoder};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
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

/// From text, as the stream's chunks are read: another kind of input would bring the whole JSON reader a second time.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Value>(text).and_then(serde_json::from_value)
}
