//! Converts a payload schema to the parameters of a tool in the remote agent protocol.
//!
//! The protocol supports a part of JSON Schema. Constraints such as a pattern are left out, because
//! the endpoint still checks them. A schema that the protocol cannot express at all is an error.

use config_source::{MapEntry, Node, NodeKind, Report, Span};
use serde_json::{Map, Value, json};

/// The names that the protocol of remote agents reserves for platforms; no tool may have a parameter
/// with such a name.
pub const RESERVED_PARAMETERS: [&str; 4] = ["executionId", "chatId", "userId", "toolName"];
/// The types of parameters. The protocol has no integers: they become numbers with a note in the
/// description.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];
/// The note for integers.
const INTEGER_NOTE: &str = "A whole number.";
/// The longest name of a parameter.
const MAX_NAME: usize = 64;

/// Converts a payload schema and reports what the protocol cannot express.
pub(crate) fn read(schema: &Node, endpoint_id: &str, report: &mut Report) -> Value {
    let mut reader = ParameterReader { endpoint_id, report };
    for MapEntry { key, key_at, .. } in properties(schema) {
        if RESERVED_PARAMETERS.contains(&key.as_str()) {
            let help = format!("give it a prefix, for example `my{}{}`", key[..1].to_uppercase(), &key[1..]);
            let message = format!("remote agents must not have a parameter `{key}`: the name is the platform's own");
            reader.report.error(*key_at, message, Some(help));
        }
    }
    let mut parameters = Map::from_iter([("type".to_owned(), "object".into())]);
    reader.add_properties(&mut parameters, schema);
    parameters.entry("properties").or_insert_with(|| json!({}));
    parameters.into()
}

fn properties(schema: &Node) -> &[MapEntry] {
    schema.get("properties").map(|entry| entry.value.entries()).unwrap_or_default()
}

struct ParameterReader<'a> {
    endpoint_id: &'a str,
    report: &'a mut Report,
}

impl ParameterReader<'_> {
    /// Adds `properties` and `required`, if the schema has them.
    fn add_properties(&mut self, to: &mut Map<String, Value>, schema: &Node) {
        let mut all = Map::new();
        for MapEntry { key, key_at, value } in properties(schema) {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
            if !(1..=MAX_NAME).contains(&key.len()) || !key.bytes().all(is_plain) {
                let help = format!("use up to {MAX_NAME} letters, digits, `_`, `.` and `-`");
                self.report.error(*key_at, format!("`{key}` cannot be the name of a tool's parameter"), Some(help));
            }
            all.insert(key.clone(), self.property(&format!("the parameter `{key}`"), *key_at, value));
        }
        let required = schema.get("required").map(|entry| entry.value.items()).unwrap_or_default();
        for name in required {
            if let Some(missing) = name.text().filter(|name| !all.contains_key(*name)) {
                let help = "describe it among the `properties`".to_owned();
                self.report.error(name.at, format!("`{missing}` is required and not described"), Some(help));
            }
        }
        if !all.is_empty() {
            to.insert("properties".to_owned(), all.into());
        }
        if !required.is_empty() {
            to.insert("required".to_owned(), required.iter().map(Node::to_value).collect());
        }
    }

    /// Converts one parameter, or the items of a list. `what` names it in messages and `at` is its
    /// position.
    fn property(&mut self, what: &str, at: Span, schema: &Node) -> Value {
        let Some(kind) = self.kind(what, at, schema) else { return Value::Null };
        let mut property =
            Map::from_iter([("type".to_owned(), Value::from(if kind == "integer" { "number" } else { kind }))]);
        let description = schema.get("description").and_then(|entry| entry.value.text()).map(str::trim);
        match description.filter(|text| !text.is_empty()) {
            Some(text) if kind == "integer" => {
                property.insert("description".to_owned(), format!("{text} {INTEGER_NOTE}").into())
            }
            Some(text) => property.insert("description".to_owned(), text.into()),
            None => {
                self.report_unsupported(
                    what,
                    at,
                    "has no `description`",
                    "add one: another platform's model fills it in by that",
                );
                None
            }
        };
        let values = schema.get("enum").map(|entry| &entry.value);
        if let Some(odd) = values.and_then(|values| values.items().iter().find(|value| !is_plain(value))) {
            let help = "allow texts, numbers and booleans only";
            self.report_unsupported(what, odd.at, &format!("allows {}", odd.describe()), help);
        }
        for key in ["enum", "default"] {
            let Some(value) = schema.get(key).map(|entry| &entry.value) else { continue };
            if key == "enum" || is_plain(value) {
                property.insert(key.to_owned(), value.to_value());
            }
        }
        match (kind, schema.get("items")) {
            ("array", Some(items)) => {
                let items = self.property(&format!("each item of {what}"), items.key_at, &items.value);
                property.insert("items".to_owned(), items);
            }
            ("object", _) => self.add_properties(&mut property, schema),
            _ => {}
        }
        property.into()
    }

    /// Returns the type, if the protocol supports it.
    fn kind(&mut self, what: &str, at: Span, schema: &Node) -> Option<&'static str> {
        let given = schema.get("type").map(|entry| &entry.value);
        let text = given.and_then(Node::text);
        if let Some(known) = TYPES.into_iter().find(|known| text == Some(known)) {
            return Some(known);
        }
        // An invalid JSON Schema has been reported already.
        let is_schema = matches!(schema.kind, NodeKind::Map(_) | NodeKind::Bool(_));
        if is_schema && text.is_none_or(|text| text == "null") {
            let help = "give it one `type`: `string`, `number`, `integer`, `boolean`, `array` or `object`; \
                        the contract has neither alternatives nor references";
            self.report_unsupported(
                what,
                given.map_or(at, |given| given.at),
                "has no type that the contract knows",
                help,
            );
        }
        None
    }

    fn report_unsupported(&mut self, what: &str, at: Span, problem: &str, help: &str) {
        let message = format!("{what} {problem}, so `{}` cannot be a remote agent's tool", self.endpoint_id);
        self.report.error(at, message, Some(help.to_owned()));
    }
}

fn is_plain(value: &Node) -> bool {
    matches!(value.kind, NodeKind::Text(_) | NodeKind::Number(_) | NodeKind::Bool(_))
}
