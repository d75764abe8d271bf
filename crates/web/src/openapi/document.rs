//! The OpenAPI 3.1 document of all mounted routes.

use super::schemas::Schemas;
use super::{Access, Description, Operation, RouteOutput};
use crate::HttpError;
use axum::body::Bytes;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The metadata of the document.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name.
    pub title: &'static str,
    /// The version.
    pub version: &'static str,
    /// A description for readers.
    pub description: &'static str,
    /// The name of the cookie with the session.
    pub session_cookie: &'static str,
}

/// The document of a server.
#[derive(Debug)]
pub struct Document {
    about: About,
    operations: Vec<Operation>,
    json: OnceLock<Bytes>,
}

impl Document {
    /// Creates the document of these routes.
    pub fn new(about: About, operations: Vec<Operation>) -> Self {
        Self { about, operations, json: OnceLock::new() }
    }

    /// Returns the document as JSON, which is built once.
    pub fn json(&self) -> Bytes {
        self.json.get_or_init(|| self.build().to_string().into()).clone()
    }

    fn build(&self) -> Value {
        let mut schemas = Schemas::new();
        let mut described: Vec<_> =
            self.operations.iter().map(|operation| (operation, describe(operation, &mut schemas))).collect();
        let (schemas, renaming) = schemas.finish();
        let (mut paths, mut tags) = (Map::new(), Vec::new());
        for (operation, entry) in &mut described {
            if let Some(body) = entry.get_mut("requestBody") {
                renaming.apply(body);
            }
            paths.entry(operation.path.as_ref()).or_insert_with(|| json!({}))[operation.method] = entry.take();
            let tag = json!({ "name": operation.tag.name, "description": operation.tag.description });
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let About { title, version, description, session_cookie } = self.about;
        json!({
            "openapi": "3.1.0",
            "info": { "title": title, "version": version, "description": description },
            "tags": tags,
            "paths": paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {
                    "bearer": { "type": "http", "scheme": "bearer" },
                    "key": { "type": "apiKey", "in": "header", "name": "x-api-key" },
                    "session": { "type": "apiKey", "in": "cookie", "name": session_cookie },
                },
            },
        })
    }
}

/// Returns the entry of a route.
fn describe(operation: &Operation, schemas: &mut Schemas) -> Value {
    let mut description = Description::new(schemas);
    description.parameters.extend(path_parameters(&operation.path));
    (operation.describe)(&mut description);
    if !description.responses.contains_key("default") {
        HttpError::describe(&mut description);
    }
    let Description { parameters, body, responses, .. } = description;
    let mut entry = json!({
        "tags": [operation.tag.name],
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "responses": responses,
        "security": security(operation.tag.access),
    });
    if !parameters.is_empty() {
        entry["parameters"] = parameters.into();
    }
    if let Some(body) = body {
        entry["requestBody"] = body;
    }
    entry
}

/// Returns the alternatives of credentials; an empty one stands for none.
fn security(access: Access) -> Value {
    match access {
        Access::Anyone | Access::Senders => json!([]),
        Access::Platforms => json!([{ "key": [] }]),
        Access::SignedIn => json!([{ "bearer": [] }, { "session": [] }]),
        Access::Users { scope: None } => json!([{}, { "bearer": [] }, { "session": [] }]),
        Access::Users { scope: Some(_) } => json!([{}, { "bearer": [] }, { "key": [] }, { "session": [] }]),
    }
}

/// Returns the path parameters, which are in braces.
fn path_parameters(path: &str) -> impl Iterator<Item = Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
}

/// Returns the operation id, such as `get_api_conversations_id`.
fn operation_id(operation: &Operation) -> String {
    let words = operation.path.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(operation.method).chain(words).collect::<Vec<_>>().join("_")
}
