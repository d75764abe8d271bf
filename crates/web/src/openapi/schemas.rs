//! The JSON Schemas of the types in requests and responses.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Where the document has the schemas of named types.
const DEFINITIONS: &str = "#/components/schemas/";

/// The suffix of a type's schema in requests if it differs from that in responses. It does where a
/// field may be left out of a request, but is part of each response.
const IN_REQUESTS: &str = "Input";

/// Collects the schemas of types. Requests are described as they are deserialized, and responses as
/// they are serialized.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
    /// Without references.
    queries: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            requests: settings.clone().for_deserialize().into_generator(),
            responses: settings.clone().for_serialize().into_generator(),
            queries: settings.for_deserialize().with(|settings| settings.inline_subschemas = true).into_generator(),
        }
    }

    /// Returns the schema of a type in requests: a reference if the type has a name.
    pub(super) fn request<T: JsonSchema>(&mut self) -> Value {
        value(self.requests.subschema_for::<T>())
    }

    /// Returns the schema of a query string.
    pub(super) fn query<T: JsonSchema>(&mut self) -> Value {
        value(T::json_schema(&mut self.queries))
    }

    /// Returns the schema of a type in responses: a reference if the type has a name.
    pub(super) fn response<T: JsonSchema>(&mut self) -> Value {
        value(self.responses.subschema_for::<T>())
    }

    /// Returns the schemas of all named types. References in the bodies of requests must be adapted
    /// with the renaming.
    pub(super) fn finish(mut self) -> (Map<String, Value>, Renaming) {
        let mut all = self.responses.take_definitions(true);
        all.values_mut().for_each(remove_optional_null);
        let requests = self.requests.take_definitions(true);
        let renaming = Renaming::find(&all, &requests);
        for (name, mut schema) in requests {
            let name = renaming.name(&name);
            if !all.contains_key(&name) {
                renaming.apply(&mut schema);
                all.insert(name, schema);
            }
        }
        all.sort_keys();
        all.values_mut().for_each(use_plain_text);
        (all, renaming)
    }
}

fn value(schema: Schema) -> Value {
    let mut value = schema.to_value();
    use_plain_text(&mut value);
    value
}

/// The types that have another schema in requests than in responses.
pub(super) struct Renaming(BTreeSet<String>);

impl Renaming {
    fn find(responses: &Map<String, Value>, requests: &Map<String, Value>) -> Self {
        let mut differing = Self(BTreeSet::new());
        // That a request may have `null` for an absent field makes no difference.
        let mut requests = requests.clone();
        requests.values_mut().for_each(remove_optional_null);
        // A type that contains such a type differs as well.
        loop {
            let differs = |(name, schema): &(&String, &Value)| {
                responses.get(*name).is_some_and(|other| other != *schema || differing.is_used_in(schema))
            };
            let found: BTreeSet<_> = requests.iter().filter(differs).map(|(name, _)| name.clone()).collect();
            if found.len() == differing.0.len() {
                return differing;
            }
            differing = Self(found);
        }
    }

    fn name(&self, name: &str) -> String {
        if self.0.contains(name) { format!("{name}{IN_REQUESTS}") } else { name.to_owned() }
    }

    fn is_used_in(&self, schema: &Value) -> bool {
        match schema {
            Value::String(text) => text.strip_prefix(DEFINITIONS).is_some_and(|name| self.0.contains(name)),
            Value::Array(items) => items.iter().any(|item| self.is_used_in(item)),
            Value::Object(fields) => fields.values().any(|field| self.is_used_in(field)),
            _ => false,
        }
    }

    /// Makes references in a schema of a request name the requests' schemas.
    pub(super) fn apply(&self, schema: &mut Value) {
        match schema {
            Value::String(text) => {
                if let Some(name) = text.strip_prefix(DEFINITIONS) {
                    *text = format!("{DEFINITIONS}{}", self.name(name));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.apply(field)),
            _ => {}
        }
    }
}

/// Returns the schema of a value that is left out instead of being `null`.
pub(super) fn without_null(mut schema: Value) -> Value {
    if schema.get("default").is_some_and(Value::is_null)
        && let Some(fields) = schema.as_object_mut()
    {
        fields.shift_remove("default");
    }
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let choices = schema.get_mut("anyOf").and_then(Value::as_array_mut);
    if let Some(choices) = choices {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            if let Some(fields) = schema.as_object_mut() {
                fields.shift_remove("anyOf");
                fields.extend(only);
            }
        }
    }
    schema
}

/// Removes `null` from fields that may be absent: responses have either a value or no such field.
fn remove_optional_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(remove_optional_null),
        Value::Object(fields) => {
            fields.values_mut().for_each(remove_optional_null);
            let required = fields.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (name, field) in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
                if !required.contains(&name.as_str().into()) {
                    *field = without_null(field.take());
                }
            }
        }
        _ => {}
    }
}

/// Converts the descriptions in a schema from the form of Rust's documentation to plain Markdown.
fn use_plain_text(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(use_plain_text),
        Value::Object(fields) => {
            if let Some(Value::String(about)) = fields.get_mut("description") {
                *about = plain_text(about);
            }
            fields.values_mut().for_each(use_plain_text);
        }
        _ => {}
    }
}

/// Joins the lines of each paragraph, and replaces links to Rust items by their names.
fn plain_text(docs: &str) -> String {
    let paragraphs = docs.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let docs = paragraphs.collect::<Vec<_>>().join("\n\n");
    let (mut plain, mut rest) = (String::new(), docs.as_str());
    while let Some((before, link)) = rest.split_once("[`")
        && let Some((name, after)) = link.split_once("`]")
    {
        let is_module = |segment: &&str| segment.starts_with(|sign: char| sign.is_ascii_lowercase());
        let segments: Vec<_> = name.split("::").collect();
        let modules = segments.iter().take_while(|segment| is_module(segment)).count().min(segments.len() - 1);
        plain.push_str(&format!("{before}`{}`", segments[modules..].join("::")));
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn descriptions_are_plain_text() {
        let check = |docs: &str, expected: &str| assert_eq!(plain_text(docs), expected);
        check("One\nline.\n\nAnother [one].", "One line.\n\nAnother [one].");
        check("See [`crate::api::Outcome::Failed`] and [`Map`](std::Map).", "See `Outcome::Failed` and `Map`.");
        check("As [`crate::arguments_hash`].", "As `arguments_hash`.");
        check("[`", "[`");
    }

    #[test]
    fn optional_parameters_are_not_null() {
        let check = |schema: Value, expected: Value| assert_eq!(without_null(schema), expected);
        check(json!({ "type": ["integer", "null"], "default": null }), json!({ "type": "integer" }));
        check(json!({ "anyOf": [{ "$ref": "#/x" }, { "type": "null" }] }), json!({ "$ref": "#/x" }));
        check(json!({ "type": "string" }), json!({ "type": "string" }));
    }
}
