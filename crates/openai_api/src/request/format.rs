//! The form of the answer that a request asks for.

use super::part;
use crate::error::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::invoke::ResponseSchema;

/// The form, as both APIs write it: Chat Completions has the schema below `json_schema`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a request has one, which is taken apart at once")]
enum Format {
    Text,
    JsonObject,
    JsonSchema {
        json_schema: Option<Schema>,
        #[serde(flatten)]
        own: OwnSchema,
    },
}

#[derive(Deserialize)]
struct Schema {
    name: String,
    schema: Option<Value>,
    strict: Option<bool>,
}

#[derive(Deserialize)]
struct OwnSchema {
    name: Option<String>,
    schema: Option<Value>,
    strict: Option<bool>,
}

/// Returns the schema of the answer; `None` for text.
pub(super) fn read(value: Option<&Value>, param: &str) -> Result<Option<ResponseSchema>, ApiError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let format = match part(value, param)? {
        Format::Text => return Ok(None),
        // Any object.
        Format::JsonObject => Schema { name: "answer".to_owned(), schema: None, strict: None },
        Format::JsonSchema { json_schema: Some(schema), .. } => schema,
        Format::JsonSchema { own: OwnSchema { name: Some(name), schema, strict }, .. } => {
            Schema { name, schema, strict }
        }
        Format::JsonSchema { .. } => return Err(ApiError::invalid(param, "A schema needs a `name`.")),
    };
    if !contract::is_name(&format.name) {
        let message = "The name of a schema has 1 to 64 letters, digits, `_` and `-`.";
        return Err(ApiError::invalid(format!("{param}.name"), message));
    }
    let schema = format.schema.unwrap_or_else(|| json!({ "type": "object" }));
    Ok(Some(ResponseSchema { name: format.name, strict: format.strict.unwrap_or_default(), schema }))
}
