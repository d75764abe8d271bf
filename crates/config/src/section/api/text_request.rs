//! The requests `GenerateText` and `GenerateObject`.

use super::payload_schema;
use crate::section::value::{Id, Text};
use crate::section::{Context, step_connection};
use config_source::Node;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Generates a text with a model, in one reply and without tools. The result is the text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateTextRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// Always `GenerateText`.
    #[serde(rename = "type")]
    _type: GenerateTextType,
    /// The id of a connection that has models.
    connection_id: Id,
    /// The model and the prompt.
    #[serde(rename = "properties")]
    _properties: GenerateTextProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum GenerateTextType {
    /// Generates a text with a model.
    GenerateText,
}

/// The model and the prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateTextProperties {
    /// The provider's name for the model.
    #[serde(rename = "model")]
    _model: Text,
    /// The instructions for the model (the system prompt). An operator is allowed.
    #[serde(default, rename = "instructions")]
    _instructions: Value,
    /// The task for the model; an operator is allowed.
    #[serde(rename = "prompt")]
    _prompt: Value,
    /// The longest reply in tokens.
    #[schemars(range(min = 1))]
    #[serde(rename = "maxOutputTokens")]
    _max_output_tokens: Option<u32>,
    /// The sampling temperature: low values make replies more predictable, high values more varied.
    #[schemars(range(min = 0.0, max = 2.0))]
    #[serde(rename = "temperature")]
    _temperature: Option<f64>,
}

/// Generates a JSON object that matches a JSON Schema with a model, in one reply and without tools.
/// A reply that does not match is sent back once with the errors. The result is the object.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateObjectRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// Always `GenerateObject`.
    #[serde(rename = "type")]
    _type: GenerateObjectType,
    /// The id of a connection that has models.
    connection_id: Id,
    /// The model, the prompt and the schema of the reply.
    #[serde(rename = "properties")]
    _properties: GenerateObjectProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum GenerateObjectType {
    /// Generates a JSON object with a model.
    GenerateObject,
}

/// The model, the prompt and the schema of the reply.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GenerateObjectProperties {
    #[serde(flatten)]
    _question: GenerateTextProperties,
    /// The JSON Schema of the reply, an object.
    #[serde(rename = "schema")]
    _schema: Map<String, Value>,
}

/// Checks a step `GenerateText`.
pub(crate) fn check_text(step: &Node, context: &mut Context<'_, '_>) {
    if let Some(request) = context.decode::<GenerateTextRequest>(step) {
        check_connection(&request.connection_id, "GenerateText", step, context);
    }
}

/// Checks a step `GenerateObject`.
pub(crate) fn check_object(step: &Node, context: &mut Context<'_, '_>) {
    let Some(request) = context.decode::<GenerateObjectRequest>(step) else { return };
    check_connection(&request.connection_id, "GenerateObject", step, context);
    if let Some(schema) = step.get("properties").and_then(|entry| entry.value.get("schema")) {
        payload_schema::check(&schema.value, "schema", context.report);
    }
}

fn check_connection(id: &Id, request_type: &str, step: &Node, context: &mut Context<'_, '_>) {
    let vocabulary = context.vocabulary;
    step_connection(&id.0, request_type, "a model provider", |found| vocabulary.has_models(found), step, context);
}
