//! The JSON Schema of message parts, whose JSON is written by hand.

use super::{DataPart, FilePart, SourceDocument, SourceUrl, TextPart, ToolPart, UiPart};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Matches the types that this version knows.
const KNOWN: &str = "^(text|reasoning|file|source-url|source-document|step-start|dynamic-tool|data-.*|tool-.*)$";

impl JsonSchema for UiPart {
    fn schema_name() -> Cow<'static, str> {
        "UiPart".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<TextPart>();
        let tool = generator.subschema_for::<ToolPart>();
        let mut dynamic = part(json!({ "const": "dynamic-tool" }), &tool);
        dynamic["properties"]["toolName"] = json!({ "type": "string" });
        dynamic["required"] = json!(["type", "toolName"]);
        json_schema!({
            "description": "A part of a message. More types may be added.",
            "anyOf": [
                part(json!({ "const": "text" }), &text),
                part(json!({ "const": "reasoning" }), &text),
                part(json!({ "const": "file" }), &generator.subschema_for::<FilePart>()),
                part(json!({ "const": "source-url" }), &generator.subschema_for::<SourceUrl>()),
                part(json!({ "const": "source-document" }), &generator.subschema_for::<SourceDocument>()),
                { "type": "object", "properties": { "type": { "const": "step-start" } }, "required": ["type"] },
                part(json!({ "type": "string", "pattern": "^data-" }), &generator.subschema_for::<DataPart>()),
                part(json!({ "type": "string", "pattern": "^tool-" }), &tool),
                dynamic,
                {
                    "description": "A part of a type that this version does not know.",
                    "type": "object",
                    "properties": { "type": { "type": "string", "not": { "pattern": KNOWN } } },
                    "required": ["type"],
                },
            ],
        })
    }
}

/// Returns the schema of a part: the fields of `body`, and its `type`.
fn part(kind: Value, body: &Schema) -> Value {
    json!({ "type": "object", "properties": { "type": kind }, "required": ["type"], "allOf": [body] })
}
