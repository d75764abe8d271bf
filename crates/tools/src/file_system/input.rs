//! The tools' arguments.

use contract::ToolError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The arguments of a tool that takes one path.
#[derive(Deserialize)]
pub(super) struct PathInput {
    pub(super) path: String,
}

/// Returns the schema of an object with these properties and no others.
pub(super) fn object<const N: usize>(properties: [(&str, Value); N], required: &[&str]) -> Value {
    let properties: Map<_, _> = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Returns the schema of a path.
pub(super) fn path_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// Deserializes arguments that are valid for the schema.
pub(super) fn parse_input<T: DeserializeOwned>(input: Value) -> Result<T, ToolError> {
    serde_json::from_value(input).map_err(|error| ToolError::new(format!("The arguments do not fit: {error}.")))
}
