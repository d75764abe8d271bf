//! Bodies for every route, made from the OpenAPI document and the columns of the database.

use super::Route;
use crate::access::inventory::document;
use crate::access::message;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// The body of a request.
#[derive(Clone)]
pub(super) enum RequestBody {
    Json(Value),
    /// JSON as text.
    JsonText(String),
    Form(String),
    /// A text file as `multipart/form-data`.
    File(String),
    Nothing,
}

/// Stands for an id in [`templates`]; no text contains it otherwise.
const ANY_ID: &str = "@any-id@";

/// Bodies for a route with any id. Making them takes longer than most requests.
pub(super) struct Templates(Vec<RequestBody>);

/// Returns the bodies of [`body`] for any id.
pub(super) fn templates(route: &Route) -> Templates {
    let as_text = |sent| match sent {
        RequestBody::Json(value) => RequestBody::JsonText(value.to_string()),
        other => other,
    };
    Templates(body(route, ANY_ID).into_iter().map(as_text).collect())
}

impl Templates {
    /// Returns the bodies with an id, which needs no escapes in JSON and forms.
    pub(super) fn with(&self, id: &str) -> Vec<RequestBody> {
        let with_id = |sent: &RequestBody| match sent {
            RequestBody::JsonText(text) => RequestBody::JsonText(text.replace(ANY_ID, id)),
            RequestBody::Form(text) => RequestBody::Form(text.replace(ANY_ID, id)),
            other => other.clone(),
        };
        self.0.iter().map(with_id).collect()
    }
}

/// Returns the bodies for a route, with `id` wherever they can contain an id.
pub(super) fn body(route: &Route, id: &str) -> Vec<RequestBody> {
    if !matches!(route.method.as_str(), "POST" | "PUT" | "PATCH") {
        return vec![RequestBody::Nothing];
    }
    if route.path.starts_with("/ui/") {
        return server_function(route, id).into_iter().map(RequestBody::Json).collect();
    }
    if route.path == "/mcp" {
        return tool_calls(id).into_iter().map(RequestBody::Json).collect();
    }
    match schema(route) {
        // One body for each kind of change.
        Some(schema) if schema["oneOf"].is_array() => {
            let kinds = schema["oneOf"].as_array().into_iter().flatten();
            kinds.map(|kind| RequestBody::Json(example(kind, "", id))).collect()
        }
        Some(schema) => vec![RequestBody::Json(example(&schema, "", id))],
        None => vec![RequestBody::Form(format!("id={id}&name=mine&password=mine&owner={id}&user_id={id}"))],
    }
}

/// Returns messages to the MCP server that contain the id.
fn tool_calls(id: &str) -> Vec<Value> {
    let call = |name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let ask = call("a", json!({ "message": "mine", "conversationId": id }));
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    vec![ask, call("document_read", json!({ "documentId": id })), call("remove", every_name(id)), cancelled]
}

/// Returns the schema of a route's JSON body.
pub(super) fn schema(route: &Route) -> Option<Value> {
    let content = &document()["paths"][&route.path][route.method.as_str().to_lowercase()]["requestBody"]["content"];
    content["application/json"]["schema"].is_object().then(|| resolve_schema(&content["application/json"]["schema"]))
}

fn resolve_schema(schema: &Value) -> Value {
    match schema["$ref"].as_str().and_then(|at| at.rsplit('/').next()) {
        Some(name) => document()["components"]["schemas"][name].clone(),
        None => schema.clone(),
    }
}

/// Returns a value of this schema with all optional parts.
fn example(schema: &Value, name: &str, id: &str) -> Value {
    let schema = resolve_schema(schema);
    match name {
        "messages" => return json!([message("mine")]),
        // Names of tools of the agent, which has none.
        "approved_tools" => return json!([]),
        _ => {}
    }
    if let Some(only) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return only.clone();
    }
    if let Some(first) = schema["oneOf"].get(0).or_else(|| schema["anyOf"].get(0)) {
        return example(first, name, id);
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("object");
    match kind {
        "string" if ["id", "Id", "head"].iter().any(|end| name.ends_with(end)) => id.into(),
        "string" if ["from", "agent_name"].contains(&name) => "a".into(),
        "string" => "mine".into(),
        "boolean" => true.into(),
        "integer" | "number" => 1.into(),
        "array" => json!([example(&schema["items"], name, id)]),
        _ => match schema["properties"].as_object() {
            Some(properties) => properties.iter().map(|(key, of)| (key.clone(), example(of, key, id))).collect(),
            None => every_name(id),
        },
    }
}

/// Returns an object that sets every column of the database, and other names of ids, to `id`.
pub(super) fn every_name(id: &str) -> Value {
    let mut names: Map<_, _> = columns().iter().map(|column| (column.clone(), id.into())).collect();
    names.extend([("kind".to_owned(), "delete".into()), ("messageId".to_owned(), id.into())]);
    names.into()
}

/// Returns the arguments of all server functions in one object; each function reads its own. A new
/// function with an argument of another name fails to read it, which a test notices.
fn server_function(route: &Route, id: &str) -> Vec<Value> {
    let mut all = every_name(id);
    if let Some(all) = all.as_object_mut() {
        all.extend(arguments(route, id));
    }
    let mut other = all.clone();
    other["create"] = true.into();
    other["revoke"] = Value::Null;
    other["name"] = Value::Null;
    vec![all, other]
}

/// Returns the arguments of server functions that are not ids.
pub(super) fn arguments(route: &Route, id: &str) -> Map<String, Value> {
    let submission = json!({ "kind": "message", "message": message("mine") });
    let request = json!({ "pageId": "p", "agentId": "a", "conversationId": id, "submission": submission, "owner": id });
    let change = match route.path.as_str() {
        "/ui/revise" => json!({ "kind": "delete", "messageId": id, "owner": id }),
        _ => json!({ "title": "mine", "folderId": id }),
    };
    let arguments = json!({ "ids": [id], "after": null, "cursor": null, "text": "mine", "page_id": "p", "keys": ["k"], "by": "b", "file": "{}", "create": false,
        "revoke": id, "filter": { "archived": false, "folderId": id }, "change": change, "request": request, "input": {} });
    arguments.as_object().cloned().unwrap_or_default()
}

/// Returns the names of all columns that the migrations of any crate add, in snake case and in camel
/// case.
pub(super) fn columns() -> &'static BTreeSet<String> {
    static COLUMNS: LazyLock<BTreeSet<String>> = LazyLock::new(read_columns);
    &COLUMNS
}

fn read_columns() -> BTreeSet<String> {
    let crates = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")).unwrap();
    let folders = crates.map(|entry| entry.unwrap().path().join("migrations/sqlite")).filter(|folder| folder.is_dir());
    let mut columns = BTreeSet::new();
    for file in folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines() {
            let line = line.split_once("ADD COLUMN ").map_or(line, |(_, rest)| rest);
            let mut words = line.split_whitespace();
            let (Some(name), Some(kind)) = (words.next(), words.next()) else { continue };
            let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if is_name && ["TEXT", "INTEGER", "BLOB", "REAL"].contains(&kind.trim_end_matches([',', ';'])) {
                columns.insert(name.to_owned());
                columns.insert(camel(name));
            }
        }
    }
    assert!(
        ["owner", "lease_until", "leaseUntil", "password", "roles", "definition"]
            .iter()
            .all(|name| columns.contains(*name))
    );
    columns
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (head, rest) = word.split_at(1.min(word.len()));
        text + &head.to_uppercase() + rest
    })
}

/// Returns the kind of object that a path segment is about.
pub(super) fn kind_of_segment(part: &str) -> Option<&'static str> {
    Some(match part {
        "artifact-shares" => "artifact share",
        "conversations" | "message-queues" => "conversation",
        "facts" => "fact",
        "folders" => "folder",
        "updates" => "update",
        "libraries" => "library",
        "records" => "record",
        "responses" => "response",
        "documents" => "document",
        "users" => "user",
        "groups" => "group",
        "custom-agents" => "custom agent",
        "own-agents" => "own agent",
        "projects" => "project",
        "prompts" => "prompt",
        "browsers" => "browser",
        "notifications" => "browser",
        "agents" => "a",
        _ => return None,
    })
}
