//! Structured output: converts a schema for `output_config.format` of the Messages API. Source:
//! Anthropic's page on structured outputs, and the AI SDK's rules for them. The caller validates
//! the answer against the whole schema.

use contract::ResponseFormat;
use serde_json::{Map, Value, json};

/// The maximum number of optional properties that the API accepts.
const MAX_OPTIONAL_PROPERTIES: usize = 10;
/// Supported keywords that are copied unchanged.
const COPIED_KEYWORDS: [&str; 8] = ["type", "title", "description", "default", "const", "enum", "required", "$schema"];
/// The supported formats of strings.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
/// Keywords with references, or that allow other properties: the API would reject the schema, or
/// the model would answer `{}`.
const UNSUPPORTED_KEYWORDS: [&str; 4] = ["$ref", "patternProperties", "$dynamicRef", "unevaluatedProperties"];

/// Returns the format for the API; `None` for a schema that it would reject or narrow. Then only
/// the instructions ask for the format.
pub(super) fn output_format(format: &ResponseFormat) -> Option<Value> {
    let mut optional = 0;
    let schema = convert_schema(&format.schema, &mut optional)?;
    (optional <= MAX_OPTIONAL_PROPERTIES).then(|| json!({ "type": "json_schema", "schema": schema }))
}

fn convert_schema(given: &Value, optional: &mut usize) -> Option<Value> {
    let Value::Object(given) = given else { return None };
    if UNSUPPORTED_KEYWORDS.iter().any(|key| given.contains_key(*key)) {
        return None;
    }
    let mut taken: Map<String, Value> = Map::new();
    for (key, value) in given {
        let value = match key.as_str() {
            plain if COPIED_KEYWORDS.contains(&plain) => value.clone(),
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => value.clone(),
            "items" => convert_schema(value, optional)?,
            "anyOf" | "allOf" => convert_schemas(value, optional)?,
            _ => continue,
        };
        taken.insert(key.clone(), value);
    }
    if let Some(one_of) = given.get("oneOf").filter(|_| !given.contains_key("anyOf")) {
        taken.insert("anyOf".to_owned(), convert_schemas(one_of, optional)?);
    }
    if is_object_schema(given) {
        taken.insert("properties".to_owned(), convert_properties(given, optional)?.into());
        taken.insert("additionalProperties".to_owned(), false.into());
    }
    Some(taken.into())
}

fn convert_schemas(given: &Value, optional: &mut usize) -> Option<Value> {
    given.as_array()?.iter().map(|one| convert_schema(one, optional)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn is_object_schema(given: &Map<String, Value>) -> bool {
    let is = |kind: &Value| kind == "object";
    let kind = given.get("type");
    given.contains_key("properties")
        || kind.is_some_and(|kind| is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)))
}

/// Converts an object's properties; `None` if it allows properties that it does not name.
fn convert_properties(given: &Map<String, Value>, optional: &mut usize) -> Option<Map<String, Value>> {
    let is_closed = given.get("additionalProperties").map_or(given.contains_key("properties"), |more| more == false);
    if !is_closed {
        return None;
    }
    let Some(Value::Object(properties)) = given.get("properties") else { return Some(Map::new()) };
    let required = given.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    *optional += properties.keys().filter(|key| !required.iter().any(|name| name == key.as_str())).count();
    properties.iter().map(|(key, value)| Some((key.clone(), convert_schema(value, optional)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn schemas_are_converted_or_rejected() {
        let check = |schema: Value| {
            let written = output_format(&ResponseFormat { name: "answer".to_owned(), strict: true, schema });
            written.map_or_else(|| "none".to_owned(), |format| format["schema"].to_string())
        };
        assert_snapshot!(check(json!({
            "type": "object",
            "properties": {
                "age": { "type": "integer", "minimum": 0, "description": "In years." },
                "mail": { "type": "string", "format": "email" },
                "page": { "type": "string", "format": "iri" },
                "tags": { "type": "array", "items": { "oneOf": [{ "const": "a" }, { "type": "null" }] }, "maxItems": 3 },
            },
            "required": ["age"],
        })), @r#"{"type":"object","required":["age"],"properties":{"age":{"type":"integer","description":"In years."},"mail":{"type":"string","format":"email"},"page":{"type":"string"},"tags":{"type":"array","items":{"anyOf":[{"const":"a"},{"type":"null"}]}}},"additionalProperties":false}"#);
        let many: Map<_, _> = (0..11).map(|number| (format!("p{number}"), json!({}))).collect();
        let refused = [
            json!(true),
            json!({ "type": "object" }),
            json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } }),
            json!({ "properties": { "next": { "$ref": "#" } } }),
            json!({ "type": "object", "properties": many }),
        ];
        for schema in refused {
            assert_eq!(check(schema.clone()), "none", "{schema}");
        }
        assert_snapshot!(check(json!({ "type": "object", "additionalProperties": false })), @r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    }
}
