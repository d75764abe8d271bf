//! JSON serialization.

pub(crate) mod arguments;
pub mod partial;

use serde_json::Value;

/// Serializes a value as compact JSON. `Display` of `Value` gives the same text, but would add a
/// second serializer to the browser's download.
pub fn text(value: &Value) -> String {
    // Serialization fails only for maps with non-string keys, which a `Value` cannot have.
    serde_json::to_string(value).unwrap_or_default()
}
