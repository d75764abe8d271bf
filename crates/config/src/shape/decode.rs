//! Checks a tree against the schema and deserializes entries from it. Every mismatch is reported
//! with its position.

use super::mapping::{check_limit_sections, mapping_help};
use super::pattern;
use super::query::Shape;
use config_source::{MapEntry, Node, NodeKind, Report, Span, suggest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Checks a value against a shape and deserializes it. `None` if it has errors, which have been
/// reported.
pub(crate) fn decode<T: DeserializeOwned>(node: &Node, shape: Shape<'_>, report: &mut Report) -> Option<T> {
    let value = check_value(node, shape, report)?;
    deserialize(value, node.at, report)
}

/// Deserializes a value that has been checked.
pub(crate) fn deserialize<T: DeserializeOwned>(value: Value, at: Span, report: &mut Report) -> Option<T> {
    match serde_json::from_value(value) {
        Ok(entry) => Some(entry),
        // The schema is generated from the type, so this is a gap between the two; property tests
        // look for them.
        Err(error) => {
            report.error(at, format!("this cannot be read: {error}"), None);
            None
        }
    }
}

/// Checks a value against a shape and returns it as JSON without optional keys that are empty.
/// `None` if it has errors, which have been reported.
pub(crate) fn check_value(node: &Node, shape: Shape<'_>, report: &mut Report) -> Option<Value> {
    Decoder { report }.value(node, shape, node.at)
}

/// Returns the items of a list. Another value is reported and has no items.
pub(crate) fn list_items<'n>(node: &'n Node, report: &mut Report) -> &'n [Node] {
    if !matches!(node.kind, NodeKind::Null | NodeKind::Broken | NodeKind::List(_)) {
        report.error(node.at, format!("expected a list, found {}", node.describe()), None);
    }
    node.items()
}

/// Checks the keys of the root against the known sections and returns its entries. The sections
/// themselves are not checked. `schema` is that of the whole config.
pub(crate) fn check_root<'n>(root: &'n Node, schema: &Value, report: &mut Report) -> &'n [MapEntry] {
    let sections: Vec<&str> = Shape::root(schema).properties().map(|(name, _)| name).collect();
    if !matches!(root.kind, NodeKind::Map(_)) {
        let help = suggest::list(&sections).map(|names| format!("a config is a mapping of sections: {names}"));
        report.error(root.at, format!("expected a mapping, found {}", root.describe()), help);
    }
    for entry in root.entries() {
        if !sections.contains(&entry.key.as_str()) {
            let help = suggest::help(&entry.key, sections.iter().copied());
            report.error(entry.key_at, format!("there is no section `{}`", entry.key), help);
        }
    }
    check_limit_sections(root, report);
    root.entries()
}

pub(super) struct Decoder<'a> {
    pub(super) report: &'a mut Report,
}

impl Decoder<'_> {
    /// Checks a value and returns it as JSON without optional keys that are empty. `owner` is the
    /// key that holds the value; it is marked if a required key is missing.
    pub(super) fn value(&mut self, node: &Node, shape: Shape<'_>, owner: Span) -> Option<Value> {
        if matches!(node.kind, NodeKind::Broken) {
            return None;
        }
        if shape.accepts_anything() {
            return (!node.is_broken()).then(|| node.to_value());
        }
        if is_operator(node) && shape.may_be_operator() {
            return (!node.is_broken()).then(|| node.to_value());
        }
        if let Some(choices) = shape.choices() {
            return self.choice(node, &choices, shape);
        }
        if shape.properties().next().is_some() || shape.tag().is_some() {
            return self.mapping(node, shape, owner);
        }
        if shape.alternatives().next().is_some() {
            return self.alternative(node, shape, owner);
        }
        if !accepts(shape, node) {
            return self.unexpected(node, &[shape]);
        }
        match &node.kind {
            NodeKind::List(items) => self.items(node, items, shape),
            NodeKind::Map(entries) => self.free_mapping(entries, shape),
            NodeKind::Number(_) => self.number(node, shape),
            NodeKind::Text(text) => self.text(node, text, shape),
            NodeKind::Bool(value) if shape.refuses_bool(*value) => {
                self.error(node.at, format!("expected `{}`, found `{value}`", !value), None)
            }
            _ => Some(node.to_value()),
        }
    }

    pub(super) fn error(&mut self, at: Span, message: String, help: Option<String>) -> Option<Value> {
        self.report.error(at, message, help);
        None
    }

    fn unexpected(&mut self, node: &Node, shapes: &[Shape<'_>]) -> Option<Value> {
        let mut expected: Vec<&str> = shapes.iter().flat_map(|shape| expected_types(*shape)).collect();
        expected.dedup();
        let help = match (&node.kind, expected.as_slice()) {
            (NodeKind::Map(entries), _) if entries.len() == 1 && entries[0].key.starts_with('_') => {
                Some(format!("the operator `{}` cannot be used here", entries[0].key))
            }
            (NodeKind::Text(text), ["true or false"]) if matches!(text.to_lowercase().as_str(), "yes" | "on") => {
                Some("write `true`".to_owned())
            }
            (NodeKind::Text(text), ["true or false"]) if matches!(text.to_lowercase().as_str(), "no" | "off") => {
                Some("write `false`".to_owned())
            }
            (NodeKind::Text(text), ["a whole number" | "a number"]) if text.parse::<f64>().is_ok() => {
                Some("write it without quotes".to_owned())
            }
            (NodeKind::Number(_) | NodeKind::Bool(_), ["text"]) => Some("put it in quotes".to_owned()),
            (NodeKind::Text(text), ["a whole number" | "a number"]) => suggest::byte_count_help(text),
            (NodeKind::Text(_) | NodeKind::Number(_), ["a list"]) => {
                Some("start the line with `- ` to make it a list of one".to_owned())
            }
            (_, ["a mapping"]) => shapes.iter().find_map(|shape| mapping_help(*shape, node)),
            _ => None,
        };
        self.error(node.at, format!("expected {}, found {}", expected.join(" or "), node.describe()), help)
    }

    fn choice(&mut self, node: &Node, choices: &[&str], shape: Shape<'_>) -> Option<Value> {
        let Some(text) = node.text() else {
            return self.error(node.at, format!("expected text, found {}", node.describe()), suggest::one_of(choices));
        };
        if choices.contains(&text) {
            return Some(node.to_value());
        }
        self.unknown_name(node.at, text, choices, shape);
        None
    }

    /// Reports a name that is not among the allowed ones.
    pub(super) fn unknown_name(&mut self, at: Span, text: &str, names: &[&str], shape: Shape<'_>) {
        let what = shape.choice_noun();
        if shape.is_unavailable_choice(text) {
            self.report.error(at, format!("the {what} `{text}` is not available in this version"), None);
        } else {
            self.report.error(at, format!("there is no {what} `{text}`"), suggest::help(text, names.iter().copied()));
        }
    }

    /// Checks a value against several shapes that differ in the type of the value.
    fn alternative(&mut self, node: &Node, shape: Shape<'_>, owner: Span) -> Option<Value> {
        let shapes: Vec<Shape<'_>> = shape.alternatives().collect();
        let fitting: Vec<Shape<'_>> =
            shapes.iter().copied().filter(|alternative| accepts(*alternative, node)).collect();
        // Two mappings differ in a key that only one of them requires.
        let chosen = fitting.iter().find(|fit| fit.required().any(|key| node.get(key).is_some())).or(fitting.first());
        match chosen {
            Some(chosen) => self.value(node, *chosen, owner),
            None => self.unexpected(node, &shapes),
        }
    }

    fn items(&mut self, node: &Node, items: &[Node], shape: Shape<'_>) -> Option<Value> {
        if let Some(least) = shape.number("minItems").filter(|least| (items.len() as f64) < *least) {
            return self.error(node.at, format!("expected a list of at least {least}, found {}", items.len()), None);
        }
        if let Some(most) = shape.number("maxItems").filter(|most| (items.len() as f64) > *most) {
            return self.error(node.at, format!("expected a list of at most {most}, found {}", items.len()), None);
        }
        let Some(shape) = shape.items() else { return Some(node.to_value()) };
        let values: Vec<Option<Value>> = items.iter().map(|item| self.value(item, shape, item.at)).collect();
        values.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
    }

    fn free_mapping(&mut self, entries: &[MapEntry], shape: Shape<'_>) -> Option<Value> {
        let mut whole = true;
        let mut map = Map::new();
        for MapEntry { key, key_at, value } in entries {
            let value = match shape.additional() {
                Some(shape) => self.value(value, shape, *key_at),
                None => (!value.is_broken()).then(|| value.to_value()),
            };
            match value {
                Some(value) => drop(map.insert(key.clone(), value)),
                None => whole = false,
            }
        }
        whole.then_some(Value::Object(map))
    }

    fn number(&mut self, node: &Node, shape: Shape<'_>) -> Option<Value> {
        let value = node.to_value();
        let number = value.as_f64()?;
        let (least, most) = (shape.number("minimum"), shape.number("maximum"));
        let (too_small, too_large) =
            (least.is_some_and(|least| number < least), most.is_some_and(|most| number > most));
        if !too_small && !too_large {
            return Some(value);
        }
        let range = match (least, most) {
            (Some(least), Some(most)) => format!("between {least} and {most}"),
            (Some(least), None) => format!("of at least {least}"),
            (None, most) => format!("of at most {}", most.unwrap_or_default()),
        };
        self.error(node.at, format!("expected a number {range}, found {}", node.describe()), None)
    }

    fn text(&mut self, node: &Node, text: &str, shape: Shape<'_>) -> Option<Value> {
        if shape.number("minLength").is_some() && text.trim().is_empty() {
            return self.error(node.at, "this text is empty".to_owned(), None);
        }
        if let Some((problem, rule)) = shape.text("pattern").and_then(|rule| pattern::violation(text, rule)) {
            return self.error(node.at, problem, Some(rule.to_owned()));
        }
        Some(node.to_value())
    }
}

/// Whether a value has one of the types that a shape allows.
fn accepts(shape: Shape<'_>, node: &Node) -> bool {
    if shape.is_operator() {
        return is_operator(node);
    }
    if shape.types().next().is_none() {
        return shape.accepts_anything()
            || shape.choices().is_some() && node.text().is_some()
            || shape.alternatives().any(|alternative| accepts(alternative, node));
    }
    shape.types().any(|expected| match &node.kind {
        NodeKind::Null => expected == "null",
        NodeKind::Bool(_) => expected == "boolean",
        NodeKind::Number(number) => expected == "number" || expected == "integer" && !number.is_f64(),
        NodeKind::Text(_) => expected == "string",
        NodeKind::List(_) => expected == "array",
        NodeKind::Map(_) => expected == "object",
        NodeKind::Broken => true,
    })
}

/// Whether a value has the form of an operator: a mapping with one key, which starts with `_`.
fn is_operator(node: &Node) -> bool {
    matches!(node.entries(), [only] if only.key.starts_with('_') && !operators::is_prototype_key(&only.key))
}

/// Returns the types that a shape expects, in words for a message. Operators are not mentioned.
fn expected_types(shape: Shape<'_>) -> Vec<&'static str> {
    if shape.is_operator() {
        return Vec::new();
    }
    let own = shape.types().filter_map(|expected| match expected {
        "boolean" => Some("true or false"),
        "integer" => Some("a whole number"),
        "number" => Some("a number"),
        "string" => Some("text"),
        "array" => Some("a list"),
        "object" => Some("a mapping"),
        _ => None,
    });
    own.chain(shape.alternatives().flat_map(expected_types)).collect()
}
