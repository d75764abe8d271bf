//! Types and meanings of keys in words.

use super::{alternatives, definition, has_keys, is_inline, is_operator, slug};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Describes schemas in words, with links to the sections of the mappings that they name.
pub(super) struct Phrases<'a> {
    schema: &'a Value,
    /// The path at which each definition is used first.
    paths: &'a HashMap<&'a str, String>,
}

impl<'a> Phrases<'a> {
    pub(super) fn new(schema: &'a Value, paths: &'a HashMap<&'a str, String>) -> Self {
        Self { schema, paths }
    }

    /// Returns the type of a value, as a cell of a table.
    pub(super) fn kind(&self, schema: &'a Value) -> String {
        let mut kinds = Vec::new();
        self.collect(schema, &mut kinds);
        // Operators are named last, whatever their position in the schema.
        kinds.sort_by_key(|kind| kind == OPERATOR);
        kinds.dedup();
        let joined = kinds.join(" or ");
        (if joined.is_empty() { "any value".to_owned() } else { joined }).replace('|', "\\|")
    }

    /// Returns what a key means, with the meaning of each choice, as a cell of a table.
    pub(super) fn meaning(&self, schema: &'a Value) -> String {
        let own = schema.get("description").and_then(Value::as_str).map(str::to_owned);
        let mut choices = Vec::new();
        self.collect_choices(schema, &mut choices);
        let text = own.into_iter().chain(choices).collect::<Vec<_>>().join("<br>");
        text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
    }

    fn collect(&self, schema: &'a Value, kinds: &mut Vec<String>) {
        if let Some((name, definition)) = definition(self.schema, schema) {
            match self.named(name, definition) {
                Some(kind) => kinds.push(kind),
                None => self.collect(definition, kinds),
            }
            return;
        }
        let Some(keywords) = schema.as_object() else { return };
        let choices: Vec<_> = keywords
            .get("const")
            .into_iter()
            .chain(keywords.get("enum").and_then(Value::as_array).into_iter().flatten())
            .collect();
        if !choices.is_empty() {
            kinds.extend(choices.into_iter().map(code));
            return;
        }
        for alternative in alternatives(keywords) {
            self.collect(alternative, kinds);
        }
        for kind in types(keywords) {
            match kind {
                "string" => kinds.push("text".to_owned()),
                "boolean" => kinds.push("`true` or `false`".to_owned()),
                "integer" => kinds.push(format!("whole number{}", range(keywords))),
                "number" => kinds.push(format!("number{}", range(keywords))),
                "array" => kinds.push(self.list(keywords)),
                "object" if alternatives(keywords).next().is_none() => kinds.push(self.mapping(keywords)),
                _ => {}
            }
        }
    }

    /// Returns the word for a definition: a link to its section, or what stands for it. `None` if it
    /// is described where it is used.
    fn named(&self, name: &str, definition: &'a Value) -> Option<String> {
        if is_operator(name) {
            return Some(OPERATOR.to_owned());
        }
        if is_inline(definition) {
            return Some("`{ _secret: VARIABLE }`".to_owned());
        }
        let path = self.paths.get(name).filter(|_| definition.as_object().is_some_and(has_keys))?;
        Some(format!("[`{path}`](#{})", slug(path)))
    }

    fn list(&self, keywords: &'a Map<String, Value>) -> String {
        match keywords.get("items").map(|items| self.kind(items)) {
            Some(items) if items.contains(" or ") => format!("list of ({items})"),
            Some(items) => format!("list of {items}"),
            None => "list".to_owned(),
        }
    }

    fn mapping(&self, keywords: &'a Map<String, Value>) -> String {
        match keywords.get("additionalProperties").filter(|values| values.is_object()) {
            Some(values) => format!("mapping of names to {}", self.kind(values)),
            None => "mapping".to_owned(),
        }
    }

    fn collect_choices(&self, schema: &'a Value, choices: &mut Vec<String>) {
        if let Some((name, definition)) = definition(self.schema, schema) {
            if self.named(name, definition).is_none() {
                self.collect_choices(definition, choices);
            }
            return;
        }
        let Some(keywords) = schema.as_object() else { return };
        for alternative in alternatives(keywords) {
            match (alternative.get("const"), alternative.get("description").and_then(Value::as_str)) {
                (Some(choice), Some(text)) => choices.push(format!("{}: {text}", code(choice))),
                _ => self.collect_choices(alternative, choices),
            }
        }
    }
}

/// The word for a value that is computed.
const OPERATOR: &str = "operator";

fn code(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("`{value}`"), |text| format!("`{text}`"))
}

fn types(keywords: &Map<String, Value>) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the range of a number: ` from 1 to 1000`.
fn range(keywords: &Map<String, Value>) -> String {
    match (keywords.get("minimum"), keywords.get("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least}"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    }
}
