//! Resources of a server (<https://modelcontextprotocol.io/specification/2025-11-25/server/resources>): two tools, one
//! that lists them and one that reads one. An agent that has no use for them pays for two short declarations only.

use super::in_call;
use crate::users::UserConnection;
use crate::{clean, result};
use contract::{Annotations, Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The end of the name of the tool that reads a resource.
pub(crate) const READ_RESOURCE: &str = "read_resource";
/// The maximum number of resources, and of templates, in a result.
const MAX_LISTED: usize = 100;
/// The maximum size of a name or an address in bytes; longer addresses are left out, because they could not be read.
const MAX_URI: usize = 2000;
/// The maximum size of a description in bytes.
const MAX_ABOUT: usize = 300;

/// Lists the resources.
pub(crate) struct ListResources {
    spec: ToolSpec,
    seat: Arc<UserConnection>,
}

impl ListResources {
    /// Creates the tool; the base has the terms of the server's tools.
    pub(crate) fn new(name: String, server: &str, base: &ToolSpec, seat: Arc<UserConnection>) -> Self {
        let about = format!(
            "Lists the resources of `{server}`, a page at a time: what it can give to be read, such as files or records, and \
             templates of addresses of more."
        );
        let cursor = json!({ "type": "string", "description": "`nextCursor` of the page before." });
        let schema = json!({ "type": "object", "properties": { "cursor": cursor }, "additionalProperties": false });
        Self { spec: declared(name, about, schema, base), seat }
    }
}

impl Tool for ListResources {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            let cursor = input.get("cursor").and_then(Value::as_str).map(str::to_owned);
            let listed = self.seat.read_in_call(&context, |connection| {
                let cursor = cursor.clone();
                async move { connection.resources(cursor).await }.boxed()
            });
            let (resources, templates, next) = in_call(&context, listed).await?;
            let mut shown = Map::new();
            let is_cut = resources.len() > MAX_LISTED || templates.len() > MAX_LISTED;
            shown.insert("resources".to_owned(), resources.into_iter().take(MAX_LISTED).filter_map(resource).collect());
            let templates: Vec<_> = templates.into_iter().take(MAX_LISTED).filter_map(template).collect();
            if !templates.is_empty() {
                shown.insert("templates".to_owned(), templates.into());
            }
            if let Some(next) = next {
                shown.insert("nextCursor".to_owned(), next.into());
            }
            if is_cut {
                shown.insert("note".to_owned(), format!("Only the first {MAX_LISTED} are shown.").into());
            }
            Ok(Value::Object(shown))
        }
        .boxed()
    }
}

/// Reads a resource.
pub(crate) struct ReadResource {
    spec: ToolSpec,
    seat: Arc<UserConnection>,
    /// Whether a user interface of the server reads, instead of a model.
    for_app: bool,
}

impl ReadResource {
    /// Creates the tool; the base has the terms of the server's tools.
    pub(crate) fn new(name: String, server: &str, base: &ToolSpec, seat: Arc<UserConnection>) -> Self {
        let about = format!("Reads a resource of `{server}` by its address.");
        let uri = json!({ "type": "string", "minLength": 1, "maxLength": MAX_URI, "description": "The address: of a resource, \
            or of a template with its placeholders filled in." });
        let schema = json!({ "type": "object", "properties": { "uri": uri }, "required": ["uri"], "additionalProperties": false });
        Self { spec: declared(name, about, schema, base), seat, for_app: false }
    }

    /// Returns the tool as user interfaces of the server have it: its results are what the server has sent.
    pub(crate) fn for_app(self) -> Self {
        Self { for_app: true, ..self }
    }
}

impl Tool for ReadResource {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            let uri = input.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
            let read = self.seat.read_in_call(&context, |connection| {
                let uri = uri.clone();
                async move { connection.read_resource(uri).await }.boxed()
            });
            let contents = in_call(&context, read).await?;
            if self.for_app {
                result::for_app(&json!({ "contents": contents }))
            } else {
                Ok(result::resource_value(contents))
            }
        }
        .boxed()
    }
}

/// Returns the declaration of a tool that reads what others have written.
pub(super) fn declared(name: String, about: String, schema: Value, base: &ToolSpec) -> ToolSpec {
    let annotations = Annotations { returns_untrusted: true, idempotent: true, reads_only: true, ..base.annotations };
    let base = ToolSpec { annotations, ..base.clone() };
    ToolSpec { name, description: about, input_schema: schema, ..base }
}

fn resource(resource: Resource) -> Option<Value> {
    let Resource { uri, name, title, description, mime_type, size, .. } = resource;
    described(("uri", uri), title.unwrap_or(name), description, mime_type, size)
}

fn template(template: ResourceTemplate) -> Option<Value> {
    let ResourceTemplate { uri_template, name, title, description, mime_type, .. } = template;
    described(("uriTemplate", uri_template), title.unwrap_or(name), description, mime_type, None)
}

fn described(
    (key, uri): (&str, String),
    name: String,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<u64>,
) -> Option<Value> {
    if uri.len() > MAX_URI || uri.chars().any(char::is_control) {
        return None;
    }
    let mut shown = json!({ key: uri, "name": clean(&name, MAX_ABOUT) });
    let optional = [
        ("description", description.map(|text| clean(&text, MAX_ABOUT).into())),
        ("mimeType", mime_type.map(|text| clean(&text, MAX_ABOUT).into())),
        ("size", size.map(Value::from)),
    ];
    for (key, value) in optional.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        shown[key] = value;
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_resources_are_limited_and_sanitized() {
        let check = |given: Value, expected: Option<Value>| {
            assert_eq!(resource(serde_json::from_value(given.clone()).unwrap()), expected, "{given}");
        };
        let note =
            json!({ "uri": "note://1", "name": "n1", "title": "No\u{202e}te", "mimeType": "text/plain", "size": 7 });
        check(note, Some(json!({ "uri": "note://1", "name": "Note", "mimeType": "text/plain", "size": 7 })));
        check(json!({ "uri": "note://2", "name": "n2" }), Some(json!({ "uri": "note://2", "name": "n2" })));
        check(json!({ "uri": "x".repeat(3000), "name": "long" }), None);
        check(json!({ "uri": "a\nb", "name": "lines" }), None);
    }
}
