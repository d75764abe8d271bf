//! The schema and the questions that decoding asks of it.
//!
//! Some keywords are our own. `x-not-yet` and `x-keys-not-yet` list choices and keys that are part of the language but
//! cannot be run by this version. `x-names` says what a choice is between, for messages ("connection type").
//! `x-operator` marks the shape of operators, which are told from other mappings by their one key.
//! `x-checked-apart` marks a value that is decoded by itself, so that a mistake in it does not hide others.

use crate::section::RootEntry;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// The schema as decoding uses it.
pub(super) static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<RootEntry>().to_value());

/// A sub-schema with its references followed.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    keywords: &'static Map<String, Value>,
}

/// A schema that allows everything (`true`).
static ANYTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl Shape {
    /// The whole config.
    pub(crate) fn root() -> Self {
        Self::new(&SCHEMA)
    }

    /// The shape of an entry type; `None` if no config can hold one.
    pub(crate) fn of<T: JsonSchema>() -> Option<Self> {
        SCHEMA.get("$defs")?.get(&*T::schema_name()).map(Self::new)
    }

    pub(super) fn new(schema: &'static Value) -> Self {
        let keywords = schema.as_object().unwrap_or(&ANYTHING);
        let target =
            keywords.get("$ref").and_then(Value::as_str).and_then(|path| SCHEMA.pointer(path.strip_prefix('#')?));
        target.map_or(Self { keywords }, Self::new)
    }

    fn list(self, keyword: &str) -> impl Iterator<Item = &'static Value> {
        self.keywords.get(keyword).and_then(Value::as_array).into_iter().flatten()
    }

    /// A keyword whose value is a number.
    pub(super) fn number(self, keyword: &str) -> Option<f64> {
        self.keywords.get(keyword)?.as_f64()
    }

    /// A keyword whose value is text.
    pub(super) fn text(self, keyword: &str) -> Option<&'static str> {
        self.keywords.get(keyword)?.as_str()
    }

    /// The allowed types; none: all.
    pub(super) fn types(self) -> Vec<&'static str> {
        match self.keywords.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            _ => self.list("type").filter_map(Value::as_str).collect(),
        }
    }

    /// The named properties, as written: an annotation may stand beside a reference.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        let properties = self.keywords.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }

    /// The shape of a property.
    pub(crate) fn property(self, name: &str) -> Option<Self> {
        self.properties().find(|(known, _)| *known == name).map(|(_, schema)| Self::new(schema))
    }

    pub(super) fn required(self) -> impl Iterator<Item = &'static str> {
        self.list("required").filter_map(Value::as_str)
    }

    /// The shape of a list's items.
    pub(crate) fn items(self) -> Option<Self> {
        self.keywords.get("items").map(Self::new)
    }

    /// The shape of the values of a mapping with free keys.
    pub(super) fn additional(self) -> Option<Self> {
        match self.keywords.get("additionalProperties") {
            None | Some(Value::Bool(false)) => None,
            Some(schema) => Some(Self::new(schema)),
        }
    }

    /// The alternatives (`oneOf`, `anyOf`), as written.
    pub(super) fn alternatives(self) -> impl Iterator<Item = Self> {
        self.list("oneOf").chain(self.list("anyOf")).map(Self::new)
    }

    /// The texts that are allowed here, if only some are.
    pub(super) fn choices(self) -> Option<Vec<&'static str>> {
        if let Some(one) = self.text("const") {
            return Some(vec![one]);
        }
        let mut choices: Vec<_> = self.list("enum").filter_map(Value::as_str).collect();
        let values = self.alternatives().filter(|shape| shape.types() != ["null"] && !shape.is_operator());
        for alternative in values {
            choices.extend(alternative.choices()?);
        }
        (!choices.is_empty()).then_some(choices)
    }

    /// Whether only the other truth value is allowed.
    pub(super) fn refuses(self, value: bool) -> bool {
        self.list("enum").any(|allowed| *allowed == Value::Bool(!value))
            && !self.list("enum").any(|allowed| *allowed == Value::Bool(value))
    }

    /// Whether a key is part of the language, but not of this version.
    pub(super) fn is_key_not_yet(self, key: &str) -> bool {
        self.list("x-keys-not-yet").any(|known| known == key)
    }

    /// Whether a choice is part of the language, but not of this version.
    pub(super) fn is_choice_not_yet(self, name: &str) -> bool {
        self.list("x-not-yet").any(|known| known == name)
            || self.alternatives().any(|alternative| alternative.is_choice_not_yet(name))
    }

    /// What a choice is between.
    pub(super) fn names(self) -> &'static str {
        self.own_names().unwrap_or("value")
    }

    fn own_names(self) -> Option<&'static str> {
        self.text("x-names").or_else(|| self.alternatives().find_map(Self::own_names))
    }

    /// The key by whose value the alternatives differ, such as `type`.
    pub(super) fn tag(self) -> Option<&'static str> {
        self.alternatives().next()?.properties().find(|(_, schema)| schema.get("const").is_some()).map(|(name, _)| name)
    }

    /// Whether a mapping may leave out every key.
    pub(super) fn may_be_empty(self) -> bool {
        self.required().next().is_none() && self.tag().is_none()
    }

    /// Whether it is that of an operator, which is evaluated later.
    pub(super) fn is_operator(self) -> bool {
        self.keywords.contains_key("x-operator")
    }

    /// Whether an operator may stand here, alone or instead of a value.
    pub(super) fn may_be_operator(self) -> bool {
        self.is_operator() || self.alternatives().any(Self::is_operator)
    }

    /// Whether nothing is said about the value.
    pub(super) fn is_anything(self) -> bool {
        self.keywords.contains_key("x-checked-apart")
            || !["type", "const", "enum", "oneOf", "anyOf", "properties"]
                .iter()
                .any(|keyword| self.keywords.contains_key(*keyword))
    }
}

/// The first paragraph of a description, on one line.
pub(super) fn description(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split("\n\n").next()?.split_whitespace().collect::<Vec<_>>().join(" "))
}
