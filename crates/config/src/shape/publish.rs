//! The schema that is published for editors.

use super::query::Shape;
use serde_json::{Value, json};

/// Returns the schema without internal keywords, closed against unknown keys, and with `{_ref:
/// PATH}` allowed in every place. `internal` is the schema with internal keywords.
pub(crate) fn published(internal: &Value) -> Value {
    let mut schema = internal.clone();
    publish(&mut schema, true, internal);
    schema["title"] = "Chatwright config".into();
    schema["$defs"]["_ref"] = json!({
        "type": "object",
        "description": "The content of another file, by its path relative to the config's folder. A YAML or JSON file is parsed, any other file is text.",
        "properties": { "_ref": { "type": "string" } },
        "required": ["_ref"],
        "additionalProperties": false,
    });
    schema
}

/// Converts a schema. `whole`: it describes a mapping with all its keys, not an alternative for
/// some of them. `root` is the schema with internal keywords.
fn publish(schema: &mut Value, whole: bool, root: &Value) {
    let Value::Object(keywords) = schema else { return };
    let replaceable = keywords.get("x-may-be-absent").and_then(Value::as_array).cloned().unwrap_or_default();
    keywords.retain(|keyword, _| !keyword.starts_with("x-"));
    let named = keywords.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    named.for_each(|(_, schema)| publish_value(schema, root));
    let definitions = keywords.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten();
    definitions.for_each(|(_, schema)| publish(schema, true, root));
    for single in ["items", "additionalProperties"] {
        keywords.get_mut(single).into_iter().for_each(|schema| publish_value(schema, root));
    }
    let described = keywords.contains_key("properties");
    for group in ["oneOf", "anyOf"] {
        let alternatives = keywords.get_mut(group).and_then(Value::as_array_mut).into_iter().flatten();
        alternatives.for_each(|schema| publish(schema, !described, root));
    }
    if described {
        let absent = CONTENT_KEYS.map(|key| contents_may_be_absent(&keywords["properties"][key], root).then_some(key));
        if let Some(required) = keywords.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|key| !absent.iter().flatten().any(|absent| key == absent) && !replaceable.contains(key));
        }
    }
    if described && whole {
        let divided = keywords.contains_key("oneOf");
        keywords
            .insert(if divided { "unevaluatedProperties" } else { "additionalProperties" }.to_owned(), false.into());
    }
}

/// Converts the schema of a value, for which `{_ref: PATH}` is allowed as well. A constant that
/// selects an alternative cannot be included.
fn publish_value(schema: &mut Value, root: &Value) {
    publish(schema, true, root);
    let Value::Object(keywords) = schema else { return };
    if keywords.is_empty() || keywords.contains_key("const") {
        return;
    }
    let annotations: Vec<(String, Value)> =
        ["description", "default"].iter().filter_map(|keyword| keywords.shift_remove_entry(*keyword)).collect();
    let own = std::mem::take(keywords);
    keywords.extend(annotations);
    keywords.insert("anyOf".to_owned(), json!([own, { "$ref": "#/$defs/_ref" }]));
}

/// The keys whose content depends on `type`.
const CONTENT_KEYS: [&str; 2] = ["properties", "params"];

/// Whether no key is required in the content, so that it can be left out.
fn contents_may_be_absent(schema: &Value, root: &Value) -> bool {
    let schema = &schema["anyOf"][0];
    let definition = schema["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
    definition.is_some_and(|definition| Shape::new(root, definition).may_be_empty())
}
