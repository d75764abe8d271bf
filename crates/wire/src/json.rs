//! JSON as text.

use serde_json::Value;

/// A value as compact JSON. What a `Value` itself would print is the same text from a second writer, which the browser would have to download.
pub fn text(value: &Value) -> String {
    // Fails for maps with keys that are no texts, which a value cannot have.
    serde_json::to_string(value).unwrap_or_default()
}
