//! The keys that a schema declares and a value has, to find keys that no config has.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The definition of `{ _ref: PATH }`, which is allowed everywhere.
const FILE_REFERENCE: &str = "_ref";

/// The keys of a schema, each with the definition or the path at which it is declared.
pub(crate) type Keys = BTreeSet<String>;

/// A schema with its definitions.
pub(crate) struct Schema<'s>(pub(crate) &'s Value);

impl<'s> Schema<'s> {
    /// Returns the name and the keywords of a schema, or of the definition that it refers to.
    fn resolved(&self, schema: &'s Value, place: &str) -> Option<(String, &'s Map<String, Value>)> {
        match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            Some(FILE_REFERENCE) => None,
            Some(name) => Some((name.to_owned(), self.0["$defs"][name].as_object()?)),
            None => Some((place.to_owned(), schema.as_object()?)),
        }
    }

    /// Adds the keys of a schema.
    pub(crate) fn collect(&self, schema: &'s Value, place: &str, seen: &mut Keys, keys: &mut Keys) {
        let Some((place, keywords)) = self.resolved(schema, place) else { return };
        if schema.get("$ref").is_some() && !seen.insert(place.clone()) {
            return;
        }
        for (key, value) in properties(keywords) {
            keys.insert(format!("{place}.{key}"));
            self.collect(value, &format!("{place}.{key}"), seen, keys);
        }
        for (below, value) in below(keywords) {
            self.collect(value, &format!("{place}{below}"), seen, keys);
        }
        alternatives(keywords).for_each(|one| self.collect(one, &place, seen, keys));
    }

    /// Adds the keys that a value has.
    pub(crate) fn mark(&self, schema: &'s Value, place: &str, value: &Value, used: &mut Keys) {
        let Some((place, keywords)) = self.resolved(schema, place) else { return };
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match properties(keywords).find(|(known, _)| *known == key) {
                        Some((_, schema)) => {
                            used.insert(format!("{place}.{key}"));
                            self.mark(schema, &format!("{place}.{key}"), value, used);
                        }
                        None => below(keywords)
                            .filter(|(below, _)| *below == ".*")
                            .for_each(|(below, schema)| self.mark(schema, &format!("{place}{below}"), value, used)),
                    }
                }
            }
            Value::Array(items) => {
                for (below, schema) in below(keywords).filter(|(below, _)| *below == "[]") {
                    items.iter().for_each(|item| self.mark(schema, &format!("{place}{below}"), item, used));
                }
            }
            _ => {}
        }
        for one in alternatives(keywords).filter(|one| self.fits(one, value)) {
            self.mark(one, &place, value, used);
        }
    }

    /// Whether a value can be meant for this alternative.
    fn fits(&self, schema: &'s Value, value: &Value) -> bool {
        let Some((_, keywords)) = self.resolved(schema, "") else { return false };
        let Value::Object(fields) = value else { return true };
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        let is_there = |key: &Value| key.as_str().is_some_and(|key| fields.contains_key(key));
        let has_tag = |(key, schema): (&str, &'s Value)| match (self.constants(schema), fields.get(key)) {
            (Some(constants), Some(Value::String(value))) => constants.contains(&value.as_str()),
            _ => true,
        };
        required.into_iter().all(is_there) && properties(keywords).all(has_tag)
    }

    /// Returns the constants of a choice.
    fn constants(&self, schema: &'s Value) -> Option<Vec<&'s str>> {
        let (_, keywords) = self.resolved(schema, "")?;
        if let Some(one) = keywords.get("const").and_then(Value::as_str) {
            return Some(vec![one]);
        }
        let all: Option<Vec<_>> = alternatives(keywords).map(|one| self.constants(one)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.concat())
    }
}

fn properties(keywords: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let properties = keywords.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// Returns the schemas of items and of values with free keys.
fn below(keywords: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    let names = [("items", "[]"), ("additionalProperties", ".*")].into_iter();
    names.filter_map(|(keyword, below)| Some((below, keywords.get(keyword).filter(|schema| schema.is_object())?)))
}

fn alternatives(keywords: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_array()).flatten()
}
