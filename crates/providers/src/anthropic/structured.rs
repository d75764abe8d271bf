//! JSON of a given form: what the Messages API takes as `output_config.format`. Source: Anthropic's page on structured outputs, and the
//! AI SDK's rules for them. Whoever asked checks the answer against the whole schema.

use contract::ResponseFormat;
use serde_json::{Map, Value, json};

/// The API refuses more properties that may be left out.
const MOST_OPTIONAL: usize = 10;
/// What it understands of a schema, apart from the keywords that hold schemas.
const PLAIN: [&str; 8] = ["type", "title", "description", "default", "const", "enum", "required", "$schema"];
/// The kinds of text that it knows.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
/// Keywords that lead elsewhere in the schema, or leave an object open: it would be refused, or answered with `{}`.
const REFUSED: [&str; 4] = ["$ref", "patternProperties", "$dynamicRef", "unevaluatedProperties"];

/// The format, in the API's words. None for a schema that it would refuse or narrow: such an answer rests on the instructions alone.
pub(super) fn format(format: &ResponseFormat) -> Option<Value> {
    let mut optional = 0;
    let schema = schema(&format.schema, &mut optional)?;
    (optional <= MOST_OPTIONAL).then(|| json!({ "type": "json_schema", "schema": schema }))
}

fn schema(given: &Value, optional: &mut usize) -> Option<Value> {
    let Value::Object(given) = given else { return None };
    if REFUSED.iter().any(|key| given.contains_key(*key)) {
        return None;
    }
    let mut taken: Map<String, Value> = Map::new();
    for (key, value) in given {
        let value = match key.as_str() {
            plain if PLAIN.contains(&plain) => value.clone(),
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => value.clone(),
            "items" => schema(value, optional)?,
            "anyOf" | "allOf" => schemas(value, optional)?,
            _ => continue,
        };
        taken.insert(key.clone(), value);
    }
    if let Some(one_of) = given.get("oneOf").filter(|_| !given.contains_key("anyOf")) {
        taken.insert("anyOf".to_owned(), schemas(one_of, optional)?);
    }
    if is_object(given) {
        taken.insert("properties".to_owned(), properties(given, optional)?.into());
        taken.insert("additionalProperties".to_owned(), false.into());
    }
    Some(taken.into())
}

fn schemas(given: &Value, optional: &mut usize) -> Option<Value> {
    given.as_array()?.iter().map(|one| schema(one, optional)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn is_object(given: &Map<String, Value>) -> bool {
    let is = |kind: &Value| kind == "object";
    let kind = given.get("type");
    given.contains_key("properties")
        || kind.is_some_and(|kind| is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)))
}

/// None for an object that takes other keys than those it names.
fn properties(given: &Map<String, Value>, optional: &mut usize) -> Option<Map<String, Value>> {
    let is_closed = given.get("additionalProperties").map_or(given.contains_key("properties"), |more| more == false);
    if !is_closed {
        return None;
    }
    let Some(Value::Object(properties)) = given.get("properties") else { return Some(Map::new()) };
    let required = given.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    *optional += properties.keys().filter(|key| !required.iter().any(|name| name == key.as_str())).count();
    properties.iter().map(|(key, value)| Some((key.clone(), schema(value, optional)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn schemas_as_the_api_takes_them() {
        let check = |schema: Value| {
            let written = format(&ResponseFormat { name: "answer".to_owned(), strict: true, schema });
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
