//! Types of connections that capabilities bring: this crate reads their properties without knowing
//! their keys.

use crate::connection::{AddedConnection, Connection, ConnectionKind};
use crate::section::value::SecretEntry;
use crate::section::{Context, value::Setting};
use crate::section_type::SectionProblems;
use crate::shape::deserialize;
use config_source::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The properties of a type of connection, defined by the crate that uses it.
///
/// The type's JSON Schema describes the properties: their keys, defaults and bounds, and, as the
/// description, what the connection leads to. The properties are read by the schema and then
/// deserialized, so both must agree. Secrets are of the type [`SecretText`].
pub trait ConnectionProperties: JsonSchema + DeserializeOwned + Send + Sync + 'static {
    /// The name of the type, as in `type: Ollama`.
    const TYPE: &'static str;
    /// Whether the connection has models, so that agents of the type `Agent` can use it.
    const HAS_MODELS: bool = false;

    /// Reports what the schema cannot express. Paths start at the properties.
    fn check(&self, _problems: &mut SectionProblems<'_, '_, '_>) {}
}

/// A type of connection.
#[derive(Clone, Copy)]
pub struct ConnectionType {
    pub(crate) name: &'static str,
    pub(crate) has_models: bool,
    schema: fn(&mut SchemaGenerator) -> Schema,
    read: fn(&Node, Value, &mut Context<'_, '_>) -> Option<Arc<dyn Any + Send + Sync>>,
}

impl ConnectionType {
    /// Returns the type of connection that has the properties `P`.
    pub const fn of<P: ConnectionProperties>() -> Self {
        Self {
            name: P::TYPE,
            has_models: P::HAS_MODELS,
            schema: |generator| generator.subschema_for::<P>(),
            read: read_properties::<P>,
        }
    }

    /// Returns the alternative of this type in the schema of a connection.
    pub(crate) fn schema(&self, generator: &mut SchemaGenerator) -> Value {
        json!({
            "type": "object",
            "properties": {
                "type": { "type": "string", "const": self.name },
                "properties": (self.schema)(generator).to_value(),
            },
            "required": ["type", "properties"],
        })
    }

    /// Reads a connection of this type. `properties` have been checked against the schema.
    pub(crate) fn read(&self, node: &Node, properties: Value, context: &mut Context<'_, '_>) -> Option<ConnectionKind> {
        // Absent properties are an empty mapping; what is wrong with them is shown at the connection.
        let written = node.get("properties").map_or(node, |entry| &entry.value);
        let properties = (self.read)(written, properties, context)?;
        Some(ConnectionKind::Added(AddedConnection { type_name: self.name, has_models: self.has_models, properties }))
    }
}

/// Formats the name.
impl fmt::Debug for ConnectionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConnectionType").field(&self.name).finish()
    }
}

fn read_properties<P: ConnectionProperties>(
    node: &Node,
    mut value: Value,
    context: &mut Context<'_, '_>,
) -> Option<Arc<dyn Any + Send + Sync>> {
    if !resolve_secrets(&mut value, node, context) {
        return None;
    }
    let properties: P = deserialize(value, node.at, context.report)?;
    properties.check(&mut SectionProblems::new(node, context));
    Some(Arc::new(properties))
}

/// Replaces each `{ _secret: NAME }` by the value of the environment variable. Returns false if one
/// is not set, which is reported.
fn resolve_secrets(value: &mut Value, node: &Node, context: &mut Context<'_, '_>) -> bool {
    if let Some(secret) = as_secret(value) {
        let resolved = secret.resolve(node.at, "secret of this connection", context);
        return resolved.is_some_and(|text| {
            *value = text.expose_secret().into();
            true
        });
    }
    match value {
        Value::Array(items) => items
            .iter_mut()
            .zip(node.items())
            .fold(true, |good, (item, node)| resolve_secrets(item, node, context) && good),
        Value::Object(entries) => entries.iter_mut().fold(true, |good, (key, value)| match node.get(key) {
            Some(entry) => resolve_secrets(value, &entry.value, context) && good,
            None => good,
        }),
        _ => true,
    }
}

fn as_secret(value: &Value) -> Option<SecretEntry> {
    let is_secret = value.as_object()?.len() == 1 && value.get("_secret").is_some();
    is_secret.then(|| SecretEntry::deserialize(value).ok())?
}

/// A secret in the properties of a connection. The config has the text itself, or `{ _secret: NAME
/// }` with the name of the environment variable that holds it. It is not shown when it is formatted.
#[derive(Clone, Debug)]
pub struct SecretText(SecretString);

impl SecretText {
    /// Returns the secret. It must not be shown or logged.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Deserializes the secret itself: names of variables have been replaced before.
impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

impl JsonSchema for SecretText {
    fn schema_name() -> Cow<'static, str> {
        Setting::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Setting::json_schema(generator)
    }
}

impl Connection {
    /// Returns the properties of a connection whose type a capability brings. `None` if it has
    /// another type.
    pub fn properties<P: ConnectionProperties>(&self) -> Option<&P> {
        match &self.kind {
            ConnectionKind::Added(added) => added.properties.downcast_ref(),
            _ => None,
        }
    }
}
