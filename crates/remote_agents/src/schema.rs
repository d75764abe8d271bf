//! Converts the parameters of a tool, as the contract defines them, into a JSON Schema.
//!
//! The schema is built from what the contract defines: nothing else from the server, such as an
//! expensive pattern or a reference to another address, reaches the validator or a provider.

use config::RESERVED_PARAMETERS;
use serde_json::{Map, Value, json};
use tools::text::is_visible;

/// The types of the contract, and `integer`, which servers send.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];
/// The maximum nesting of lists and objects.
const MAX_DEPTH: usize = 8;
/// The maximum length of a parameter's name in characters.
const MAX_NAME: usize = 64;

/// Sanitizes a text of the server for a model.
type Describe<'a> = &'a dyn Fn(&str) -> String;

/// Returns the schema of a tool's arguments. It allows no other parameters, because one that is not
/// described could be one of [`RESERVED_PARAMETERS`].
pub(crate) fn from_parameters(parameters: &Value, describe: Describe<'_>) -> Result<Value, String> {
    let Value::Object(parameters) = parameters else { return Err("the parameters are not an object".to_owned()) };
    if parameters.get("type").is_some_and(|kind| kind != "object") {
        return Err("the parameters are not an object".to_owned());
    }
    let mut schema = json!({ "type": "object", "properties": {} });
    add_properties(&mut schema, parameters, describe, 0)?;
    for name in schema["properties"].as_object().into_iter().flat_map(Map::keys) {
        if RESERVED_PARAMETERS.contains(&name.as_str()) {
            return Err(format!("the parameter `{name}` has a name that the contract reserves"));
        }
    }
    schema["additionalProperties"] = false.into();
    Ok(schema)
}

fn property(name: &str, given: &Value, describe: Describe<'_>, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("the parameters are nested too deeply".to_owned());
    }
    let wrong = |what: &str| format!("the parameter `{name}` has {what}");
    let Value::Object(given) = given else { return Err(wrong("no type")) };
    let kind = given.get("type").and_then(Value::as_str).ok_or_else(|| wrong("no type"))?;
    if !TYPES.contains(&kind) {
        return Err(wrong(&format!("the type `{kind}`, which the contract does not define")));
    }
    let mut schema = json!({ "type": kind });
    match present(given, "description") {
        Some(Value::String(text)) => schema["description"] = describe(text).into(),
        Some(_) => return Err(wrong("a description that is not a string")),
        None => {}
    }
    match present(given, "enum") {
        // An empty list would allow nothing.
        Some(Value::Array(values)) if values.is_empty() => {}
        Some(Value::Array(values)) if values.iter().all(is_plain) => schema["enum"] = values.clone().into(),
        Some(_) => return Err(wrong("an `enum` that is not a list of strings, numbers and booleans")),
        None => {}
    }
    match present(given, "default") {
        Some(value) if is_plain(value) => schema["default"] = value.clone(),
        Some(Value::Array(_) | Value::Object(_)) | None => {}
        Some(_) => return Err(wrong("a default with invisible characters")),
    }
    match kind {
        // A provider may reject a list without `items`.
        "array" => {
            let items = present(given, "items").map(|items| property(name, items, describe, depth + 1));
            schema["items"] = items.transpose()?.unwrap_or_else(|| json!({}));
        }
        "object" if present(given, "properties").is_some() => add_properties(&mut schema, given, describe, depth + 1)?,
        _ => {}
    }
    Ok(schema)
}

/// Adds the `properties` and `required` of an object.
fn add_properties(
    schema: &mut Value,
    given: &Map<String, Value>,
    describe: Describe<'_>,
    depth: usize,
) -> Result<(), String> {
    let mut properties = Map::new();
    match present(given, "properties") {
        Some(Value::Object(all)) => {
            for (name, given) in all {
                if !is_name(name) {
                    return Err(format!(
                        "the parameter `{name}` has a name with characters other than letters, digits, `_`, `.`, `-`"
                    ));
                }
                properties.insert(name.clone(), property(name, given, describe, depth)?);
            }
        }
        Some(_) => return Err("the properties are not an object".to_owned()),
        None => {}
    }
    let required = match present(given, "required") {
        Some(Value::Array(names)) => names.clone(),
        Some(_) => return Err("`required` is not a list".to_owned()),
        None => Vec::new(),
    };
    for name in &required {
        if !name.as_str().is_some_and(|name| properties.contains_key(name)) {
            return Err(format!("{name} is required but not described"));
        }
    }
    schema["properties"] = properties.into();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    Ok(())
}

/// Returns the value of a key, unless it is `null`.
fn present<'a>(given: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    given.get(key).filter(|value| !value.is_null())
}

/// Returns whether a value is a number, a boolean, or a text without invisible characters.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => is_visible(text),
        Value::Number(_) | Value::Bool(_) => true,
        _ => false,
    }
}

/// Returns whether every provider accepts the name. A provider rejects the whole request because of
/// an invalid one.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(parameters: Value) -> String {
        match from_parameters(&parameters, &|text| text.to_uppercase()) {
            Ok(schema) => {
                assert!(jsonschema::meta::is_valid(&schema), "{schema}");
                schema.to_string()
            }
            Err(reason) => reason,
        }
    }

    fn check(property: Value, expected: &str) {
        let seen = schema(json!({ "type": "object", "properties": { "p": property } }));
        let inner = seen.strip_prefix(r#"{"type":"object","properties":{"p":"#);
        let inner = inner.and_then(|seen| seen.strip_suffix(r#"},"additionalProperties":false}"#));
        assert_eq!(inner.unwrap_or(&seen), expected, "{property}");
    }

    #[test]
    fn schemas_keep_what_the_contract_defines() {
        let given = json!({ "type": "string", "description": "which", "enum": ["a", "b"], "default": "a", "pattern": "(a+)+$" });
        check(given, r#"{"type":"string","description":"WHICH","enum":["a","b"],"default":"a"}"#);
        check(json!({ "type": "number", "default": 1.5 }), r#"{"type":"number","default":1.5}"#);
        check(json!({ "type": "integer", "enum": [1, 2] }), r#"{"type":"integer","enum":[1,2]}"#);
        check(json!({ "type": "boolean", "default": false, "enum": [] }), r#"{"type":"boolean","default":false}"#);
        check(json!({ "type": "string", "default": null, "description": null }), r#"{"type":"string"}"#);
        check(json!({ "type": "array", "default": [] }), r#"{"type":"array","items":{}}"#);
        let given = json!({ "type": "array", "items": { "type": "string", "enum": ["x"] } });
        check(given, r#"{"type":"array","items":{"type":"string","enum":["x"]}}"#);
        check(json!({ "type": "object", "$ref": "http://127.0.0.1/" }), r#"{"type":"object"}"#);
        let given =
            json!({ "type": "object", "properties": { "userId": { "type": "string" } }, "required": ["userId"] });
        check(given, r#"{"type":"object","properties":{"userId":{"type":"string"}},"required":["userId"]}"#);
    }

    #[test]
    fn parameters_outside_of_the_contract_are_rejected() {
        check(json!("string"), "the parameter `p` has no type");
        check(json!({}), "the parameter `p` has no type");
        check(json!({ "type": ["string", "null"] }), "the parameter `p` has no type");
        check(json!({ "type": "date" }), "the parameter `p` has the type `date`, which the contract does not define");
        check(
            json!({ "type": "string", "enum": [["a"]] }),
            "the parameter `p` has an `enum` that is not a list of strings, numbers and booleans",
        );
        check(
            json!({ "type": "string", "enum": ["a\u{200b}"] }),
            "the parameter `p` has an `enum` that is not a list of strings, numbers and booleans",
        );
        check(
            json!({ "type": "string", "enum": "a" }),
            "the parameter `p` has an `enum` that is not a list of strings, numbers and booleans",
        );
        check(
            json!({ "type": "string", "default": "\u{e0041}" }),
            "the parameter `p` has a default with invisible characters",
        );
        check(
            json!({ "type": "string", "description": 1 }),
            "the parameter `p` has a description that is not a string",
        );
        check(json!({ "type": "object", "properties": [] }), "the properties are not an object");
        check(json!({ "type": "object", "properties": {}, "required": ["q"] }), "\"q\" is required but not described");
    }

    #[test]
    fn invalid_parameter_lists_are_rejected() {
        assert_eq!(schema(json!({})), r#"{"type":"object","properties":{},"additionalProperties":false}"#);
        assert_eq!(schema(json!([])), "the parameters are not an object");
        assert_eq!(schema(json!({ "type": "string" })), "the parameters are not an object");
        assert_eq!(schema(json!({ "required": "a" })), "`required` is not a list");
        for name in RESERVED_PARAMETERS {
            let expected = format!("the parameter `{name}` has a name that the contract reserves");
            assert_eq!(schema(json!({ "properties": { name: { "type": "string" } } })), expected);
        }
        let expected = "the parameter `a b` has a name with characters other than letters, digits, `_`, `.`, `-`";
        assert_eq!(schema(json!({ "properties": { "a b": { "type": "string" } } })), expected);
        let nested =
            |depth| (0..depth).fold(json!({ "type": "string" }), |items, _| json!({ "type": "array", "items": items }));
        let within = |depth| schema(json!({ "properties": { "p": nested(depth) } }));
        assert!(within(MAX_DEPTH).starts_with('{'));
        assert_eq!(within(MAX_DEPTH + 1), "the parameters are nested too deeply");
    }
}
