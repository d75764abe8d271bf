//! JSON Schemas of the config's keys, for `config`: what is written in another form than it is
//! read. See [`super::define`].

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// The pattern of ids of agents, pages, blocks and others.
pub const ID: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$";
/// The pattern of ids of endpoints, which may be grouped with `/`.
pub const ENDPOINT_ID: &str = "^[A-Za-z0-9_][A-Za-z0-9_/-]{0,127}$";

/// Defines types that stand for a schema, which is written where the type is used.
macro_rules! inline {
    ($($(#[$doc:meta])* $name:ident $(<$($parameter:ident),*>)?, $generator:pat => $schema:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name $(<$($parameter),*>(PhantomData<($($parameter,)*)>))?;

        impl $(<$($parameter: JsonSchema),*>)? JsonSchema for $name $(<$($parameter),*>)? {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

inline! {
    /// Text that is not empty.
    Text, _ => json_schema!({ "type": "string", "minLength": 1 });
    /// The id of an agent, a page, a block or another entry.
    Id, _ => json_schema!({ "type": "string", "pattern": ID });
    /// The id of an endpoint.
    EndpointId, _ => json_schema!({ "type": "string", "pattern": ENDPOINT_ID });
    /// A length: pixels, or a CSS length.
    Length, _ => json_schema!({ "anyOf": [
        { "type": "number", "minimum": 100, "maximum": 10_000, "description": "In pixels." },
        { "type": "string", "minLength": 1, "description": "As a CSS length." },
    ] });
    /// An operator on a page. `config` defines its schema, because it knows the operators.
    Operator, _ => json_schema!({ "$ref": "#/$defs/Operator" });
    /// A language with its texts, which `config` reads and defines.
    LocaleEntry, _ => json_schema!({ "$ref": "#/$defs/LocaleEntry" });
    /// A client tool, which `config` reads and defines: only a part of it goes to the browser.
    ClientToolEntry, _ => json_schema!({ "$ref": "#/$defs/ClientToolEntry" });
    /// One of two forms.
    Or<A, B>, generator => {
        json_schema!({ "anyOf": [generator.subschema_for::<A>(), generator.subschema_for::<B>()] })
    };
    /// A list that is not empty.
    NonEmpty<T>, generator => {
        json_schema!({ "type": "array", "items": generator.subschema_for::<T>(), "minItems": 1 })
    };
}

/// A value of this type, or an operator.
pub type Dynamic<T> = Or<T, Operator>;

/// The keys of two types together.
pub struct Both<A, B>(PhantomData<(A, B)>);

impl<A: JsonSchema, B: JsonSchema> JsonSchema for Both<A, B> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_and_{}", A::schema_name(), B::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (mut both, mut more) = (A::json_schema(generator), B::json_schema(generator));
        let keys = |schema: &mut Schema| match schema.ensure_object().entry("properties").or_insert(json!({})) {
            Value::Object(keys) => std::mem::take(keys),
            _ => Map::new(),
        };
        let mut all = keys(&mut both);
        all.extend(keys(&mut more));
        both.insert("properties".to_owned(), all.into());
        both
    }
}

/// Completes the schema that schemars derives for a type whose keys all have a default: requires
/// `required`, and allows `null` for the others, which is the same as leaving them out.
pub(super) fn finish(schema: &mut Schema, required: &[(&str, bool)]) {
    let is_required = |key: &str| required.iter().any(|(known, required)| *required && *known == key);
    let keys = schema.ensure_object().get_mut("properties").and_then(Value::as_object_mut);
    for (key, value) in keys.into_iter().flatten() {
        let Value::Object(keywords) = value else { continue };
        if is_required(key) || keywords.get("default").is_some_and(is_empty) {
            keywords.remove("default");
        }
        if !is_required(key) {
            allow_null(keywords);
        }
    }
    let names: Vec<&str> = required.iter().filter(|(_, required)| *required).map(|(key, _)| *key).collect();
    if !names.is_empty() {
        schema.insert("required".to_owned(), names.into());
    }
}

/// Whether a default says nothing that a reader would not expect.
fn is_empty(default: &Value) -> bool {
    match default {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn allow_null(keywords: &mut Map<String, Value>) {
    let null = json!({ "type": "null" });
    // An `Option` allows it already.
    if keywords.get("anyOf").and_then(Value::as_array).is_some_and(|forms| forms.contains(&null)) {
        return;
    }
    if let Some(Value::String(one)) = keywords.get("type") {
        let both = json!([one, "null"]);
        keywords.insert("type".to_owned(), both);
        return;
    }
    let is_value = |keyword: &str| ["$ref", "anyOf", "oneOf", "enum", "const"].contains(&keyword);
    let names: Vec<String> = keywords.keys().filter(|keyword| is_value(keyword)).cloned().collect();
    let own: Map<String, Value> = names.iter().filter_map(|name| keywords.remove_entry(name)).collect();
    if !own.is_empty() {
        keywords.insert("anyOf".to_owned(), json!([own, null]));
    }
}

/// Returns the schema of a mapping whose key `type` selects what the key `content` holds.
pub(super) fn tagged(content: &str, types: Vec<(&str, &str, Schema)>, noun: &str, not_yet: &[&str]) -> Schema {
    let alternative = |(name, about, properties): (&str, &str, Schema)| {
        json!({
            "type": "object",
            "description": about.trim(),
            "properties": { "type": { "type": "string", "const": name }, content: properties },
            "required": ["type", content],
        })
    };
    let alternatives: Vec<Value> = types.into_iter().map(alternative).collect();
    let mut schema = json_schema!({ "oneOf": alternatives, "x-names": noun });
    if !not_yet.is_empty() {
        schema.insert("x-not-yet".to_owned(), not_yet.into());
    }
    schema
}
