//! Items of a provider's reply that no other part shows, such as the tools that a remote server
//! lists or a container in which code ran.

use super::DataPart;
use crate::DataChunk;
use serde_json::{Value, json};

/// The type of the data part with an item of a provider's reply that no other part shows:
/// `{provider, name, content}`. It is only displayed: no model reads it, and long values in it are
/// shortened.
pub const PROVIDER_OUTPUT: &str = "data-provider-output";

/// The data of a [`PROVIDER_OUTPUT`] part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProviderOutput<'a> {
    /// The provider, for example `openai`.
    pub provider: &'a str,
    /// The type of the item, as the provider calls it.
    pub name: &'a str,
    /// The content of the item.
    pub content: &'a Value,
}

impl<'a> ProviderOutput<'a> {
    /// Reads a part; `None` if it is of another type.
    pub fn of(part: &'a DataPart) -> Option<Self> {
        (part.kind == PROVIDER_OUTPUT).then(|| Self::read(&part.data))
    }

    /// Reads the data of a part.
    pub fn read(data: &'a Value) -> Self {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        Self { provider: text("provider"), name: text("name"), content: data.get("content").unwrap_or(&Value::Null) }
    }

    /// Creates the chunk that adds the part.
    pub fn to_chunk(self) -> DataChunk {
        let data = json!({ "provider": self.provider, "name": self.name, "content": self.content });
        DataChunk { kind: PROVIDER_OUTPUT.to_owned(), id: None, data, transient: None }
    }
}
