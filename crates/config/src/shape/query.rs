//! The queries of the internal schema that decoding needs.

use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// A subschema with its references resolved.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'s> {
    /// The whole schema, with the definitions that references name.
    root: &'s Value,
    keywords: &'s Map<String, Value>,
}

/// The schema that accepts everything (`true`).
static ANY_SCHEMA: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl<'s> Shape<'s> {
    /// Returns the shape of a schema that is part of `root`.
    pub(super) fn new(root: &'s Value, schema: &'s Value) -> Self {
        let keywords = schema.as_object().unwrap_or(&ANY_SCHEMA);
        let target = keywords.get("$ref").and_then(Value::as_str).and_then(|path| definition(root, path));
        target.map_or(Self { root, keywords }, |target| Self::new(root, target))
    }

    /// Returns the shape of an entry type in the schema of a language.
    pub(crate) fn of_entry<T: JsonSchema>(root: &'s Value) -> Option<Self> {
        root.get("$defs")?.get(&*T::schema_name()).map(|schema| Self::new(root, schema))
    }

    /// Returns the shape of the whole config. `root` comes from [`schema_with`](super::schema_with).
    pub(crate) fn root(root: &'s Value) -> Self {
        Self::new(root, root)
    }

    pub(super) fn at(self, schema: &'s Value) -> Self {
        Self::new(self.root, schema)
    }

    fn list(self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.keywords.get(keyword).and_then(Value::as_array).into_iter().flatten()
    }

    /// Returns the value of a keyword if it is a number.
    pub(super) fn number(self, keyword: &str) -> Option<f64> {
        self.keywords.get(keyword)?.as_f64()
    }

    /// Returns the value of a keyword if it is a string.
    pub(super) fn text(self, keyword: &str) -> Option<&'s str> {
        self.keywords.get(keyword)?.as_str()
    }

    /// Returns the allowed types. Without any, all types are allowed.
    pub(super) fn types(self) -> impl Iterator<Item = &'s str> {
        let types: &'s [Value] = match self.keywords.get("type") {
            Some(Value::Array(several)) => several,
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        types.iter().filter_map(Value::as_str)
    }

    /// Whether the value is a number, or an operator that comes to one.
    pub(super) fn may_be_number(self) -> bool {
        self.types().any(|known| matches!(known, "integer" | "number")) || self.alternatives().any(Self::may_be_number)
    }

    /// Returns the properties by name. Their references are not resolved, because annotations may
    /// stand beside them.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'s str, &'s Value)> {
        let properties = self.keywords.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns the shape of a property.
    pub(crate) fn property(self, name: &str) -> Option<Self> {
        self.keywords.get("properties")?.get(name).map(|schema| self.at(schema))
    }

    pub(super) fn required(self) -> impl Iterator<Item = &'s str> {
        self.list("required").filter_map(Value::as_str)
    }

    /// Returns the shape of the items of a list.
    pub(crate) fn items(self) -> Option<Self> {
        self.keywords.get("items").map(|schema| self.at(schema))
    }

    /// Returns the shape of the values of a mapping with arbitrary keys.
    pub(super) fn additional(self) -> Option<Self> {
        match self.keywords.get("additionalProperties") {
            None | Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.at(schema)),
        }
    }

    /// Returns the alternatives (`oneOf`, `anyOf`).
    pub(super) fn alternatives(self) -> impl Iterator<Item = Self> {
        self.list("oneOf").chain(self.list("anyOf")).map(move |schema| self.at(schema))
    }

    /// Returns the alternatives by the value of their tag, the key that selects one.
    pub(crate) fn tagged_alternatives(self, tag: &str) -> impl Iterator<Item = (&'s str, Self)> {
        self.alternatives().filter_map(move |shape| Some((shape.property(tag)?.text("const")?, shape)))
    }

    /// Returns the allowed texts if the value is a choice of texts.
    pub(super) fn choices(self) -> Option<Vec<&'s str>> {
        if let Some(one) = self.text("const") {
            return Some(vec![one]);
        }
        let mut choices: Vec<_> = self.list("enum").filter_map(Value::as_str).collect();
        let values = self.alternatives().filter(|shape| shape.types().ne(["null"]) && !shape.is_operator());
        for alternative in values {
            choices.extend(alternative.choices()?);
        }
        (!choices.is_empty()).then_some(choices)
    }

    /// Whether only the opposite boolean is allowed.
    pub(super) fn refuses_bool(self, value: bool) -> bool {
        self.list("enum").any(|allowed| *allowed == Value::Bool(!value))
            && !self.list("enum").any(|allowed| *allowed == Value::Bool(value))
    }

    /// Whether a key is part of the config language but not supported by this version.
    pub(super) fn is_unavailable_key(self, key: &str) -> bool {
        self.list("x-keys-not-yet").any(|known| known == key)
    }

    /// Whether a choice is part of the config language but not supported by this version.
    pub(super) fn is_unavailable_choice(self, name: &str) -> bool {
        self.list("x-not-yet").any(|known| known == name)
            || self.alternatives().any(|alternative| alternative.is_unavailable_choice(name))
    }

    /// Returns the noun for a choice in messages.
    pub(super) fn choice_noun(self) -> &'s str {
        self.own_choice_noun().unwrap_or("value")
    }

    fn own_choice_noun(self) -> Option<&'s str> {
        self.text("x-names").or_else(|| self.alternatives().find_map(Self::own_choice_noun))
    }

    /// Returns the key whose value selects an alternative, such as `type`.
    pub(super) fn tag(self) -> Option<&'s str> {
        self.alternatives().next()?.properties().find(|(_, schema)| schema.get("const").is_some()).map(|(name, _)| name)
    }

    /// Whether a mapping has no required key.
    pub(super) fn may_be_empty(self) -> bool {
        self.required().next().is_none() && self.tag().is_none()
    }

    /// Whether it is the shape of an operator, which is evaluated later.
    pub(super) fn is_operator(self) -> bool {
        self.keywords.contains_key("x-operator")
    }

    /// Whether an operator is allowed instead of a value.
    pub(super) fn may_be_operator(self) -> bool {
        self.is_operator() || self.alternatives().any(Self::is_operator)
    }

    /// Whether every value is allowed.
    pub(super) fn accepts_anything(self) -> bool {
        self.keywords.contains_key("x-checked-apart")
            || !["type", "const", "enum", "oneOf", "anyOf", "properties"]
                .iter()
                .any(|keyword| self.keywords.contains_key(*keyword))
    }
}

/// Returns the definition that a reference such as `#/$defs/Agent` names.
fn definition<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.get("$defs")?.get(reference.strip_prefix("#/$defs/")?)
}

/// Returns the first paragraph of a description on one line.
pub(super) fn description(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split("\n\n").next()?.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::schema_with;
    use super::*;

    /// A reference that is not found would accept every value.
    #[test]
    fn all_references_name_a_definition() {
        let root = schema_with(&[], &[]);
        let (mut open, mut count) = (vec![&root], 0);
        while let Some(value) = open.pop() {
            if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
                assert!(definition(&root, reference).is_some(), "{reference}");
                count += 1;
            }
            match value {
                Value::Array(items) => open.extend(items),
                Value::Object(keywords) => open.extend(keywords.values()),
                _ => {}
            }
        }
        assert!(count > 50, "{count}");
    }
}
