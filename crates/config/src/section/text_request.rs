//! `GenerateText` and `GenerateObject`.

use super::value::{Id, Text};
use super::{Context, connection_of, payload_schema};
use crate::config::MODEL_TYPES;
use crate::shape::{Shape, decode};
use crate::source::Node;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A text from a model, in one answer and without tools. The result is the text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateTextRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// `GenerateText`
    #[serde(rename = "type")]
    _type: GenerateTextType,
    /// A connection to models.
    connection_id: Id,
    /// What is asked.
    #[serde(rename = "properties")]
    _properties: GenerateTextProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum GenerateTextType {
    /// Asks a model for a text.
    GenerateText,
}

/// What is asked for a text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateTextProperties {
    /// The provider's name for the model.
    #[serde(rename = "model")]
    _model: Text,
    /// What the model should do, in general; an operator is allowed.
    #[serde(default, rename = "instructions")]
    _instructions: Value,
    /// What it should do now; an operator is allowed.
    #[serde(rename = "prompt")]
    _prompt: Value,
    /// Where the answer stops, in tokens.
    #[schemars(range(min = 1))]
    #[serde(rename = "maxOutputTokens")]
    _max_output_tokens: Option<u32>,
    /// How free the answer is.
    #[schemars(range(min = 0.0, max = 2.0))]
    #[serde(rename = "temperature")]
    _temperature: Option<f64>,
}

/// A value from a model that fits a JSON Schema, in one answer and without tools. An answer that does not fit is sent back once with
/// what is wrong. The result is the value.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateObjectRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// `GenerateObject`
    #[serde(rename = "type")]
    _type: GenerateObjectType,
    /// A connection to models.
    connection_id: Id,
    /// What is asked, and the form of the answer.
    #[serde(rename = "properties")]
    _properties: GenerateObjectProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum GenerateObjectType {
    /// Asks a model for a value.
    GenerateObject,
}

/// What is asked, and the form of the answer.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GenerateObjectProperties {
    #[serde(flatten)]
    _question: GenerateTextProperties,
    /// The JSON Schema of the answer, an object.
    #[serde(rename = "schema")]
    _schema: Map<String, Value>,
}

/// Reports what is wrong with a step that asks for a text.
pub(super) fn check_text(step: &Node, context: &mut Context<'_, '_>) {
    let request: Option<GenerateTextRequest> =
        Shape::of::<GenerateTextRequest>().and_then(|shape| decode(step, shape, context.report));
    if let Some(request) = request {
        check_connection(&request.connection_id, "GenerateText", step, context);
    }
}

/// Reports what is wrong with a step that asks for a value.
pub(super) fn check_object(step: &Node, context: &mut Context<'_, '_>) {
    let request: Option<GenerateObjectRequest> =
        Shape::of::<GenerateObjectRequest>().and_then(|shape| decode(step, shape, context.report));
    let Some(request) = request else { return };
    check_connection(&request.connection_id, "GenerateObject", step, context);
    if let Some(schema) = step.get("properties").and_then(|entry| entry.value.get("schema")) {
        payload_schema::check(&schema.value, "schema", context.report);
    }
}

fn check_connection(id: &Id, request_type: &str, step: &Node, context: &mut Context<'_, '_>) {
    connection_of(&id.0, request_type, "a model provider", |found| MODEL_TYPES.contains(&found), step, context);
}
