//! Responses of every route of the API, compared with the schemas of the OpenAPI document.

use super::bodies::body;
use super::fixture::{NOBODY, TestServer, owner};
use super::{Route, routes};
use crate::access::inventory::document;
use axum::http::Method;
use schemas::Schema;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Returns the entry of a route; `None` for routes for browsers.
fn entry(route: &Route) -> Option<&'static Value> {
    document()["paths"].get(&route.path)?.get(route.method.as_str().to_lowercase())
}

/// Returns a compiled schema that may refer to those of the document.
fn compile(schema: &Value) -> Schema {
    let mut schema = match schema {
        Value::Bool(true) => json!({}),
        schema => schema.clone(),
    };
    schema["components"] = json!({ "schemas": document()["components"]["schemas"] });
    Schema::new(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// Returns an id of the kind that a route is about.
pub(super) fn id(server: &TestServer, route: &Route) -> String {
    let kinds = [
        ("/api/runs", "run"),
        ("/api/workflows/runs", "workflow run"),
        ("/api/files", "file"),
        ("/api/grants", "standing approval"),
        ("/api/admin/approvals", "standing approval"),
        ("/api/shares", "share"),
        ("/api/keys", "key"),
        ("/v1/responses", "response"),
        ("/api/conversations/{id}/change", "message"),
    ];
    let kind = kinds.iter().find(|(path, _)| route.path.starts_with(path));
    let found = kind.and_then(|(_, kind)| server.fixtures.iter().find(|(known, _)| known == kind));
    found.map_or_else(|| server.own_id(route), |(_, id)| id.clone())
}

/// Returns the problems of a response, and whether it was JSON of a successful request. Many responses have the same
/// schema, for example all errors, so `compiled` keeps the schemas.
fn compare(
    compiled: &mut HashMap<String, Schema>,
    entry: &Value,
    (status, text): &(u16, String),
) -> Result<bool, String> {
    let responses = &entry["responses"];
    let documented = match responses.get(status.to_string()) {
        Some(documented) => documented,
        None if *status >= 400 => &responses["default"],
        None => return Err("the status is not documented".to_owned()),
    };
    let Some(content) = documented.get("content") else {
        return text.is_empty().then_some(false).ok_or_else(|| "a body is not documented".to_owned());
    };
    let Some(json) = content.get("application/json") else { return Ok(false) };
    if content.get("text/event-stream").is_some() && text.starts_with("data: ") {
        return Ok(false);
    }
    let body = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let schema = compiled.entry(json["schema"].to_string()).or_insert_with(|| compile(&json["schema"]));
    schema.check_blocking(&body, 5).map_err(|error| error.to_string())?;
    Ok(*status < 300)
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_match_their_schemas() {
    let server = TestServer::open().await;
    let order = [Method::GET, Method::PUT, Method::PATCH, Method::POST, Method::DELETE];
    let mut routes = routes().await;
    // Routes that read come before those that change, and these before those that delete.
    routes.sort_by_key(|route| order.iter().position(|method| *method == route.method));
    let (mut wrong, mut successful) = (Vec::new(), 0);
    let mut compiled = HashMap::new();
    for route in &routes {
        let Some(entry) = entry(route) else { continue };
        let id = id(&server, route);
        let own = if route.path.ends_with("/change") { "ada-c" } else { &*id };
        let mut answers = Vec::new();
        for (caller, own) in [(&NOBODY, own), (owner(route), own)] {
            for sent in body(route, &id) {
                answers.push(server.ask(caller, route, own, sent, "").await);
            }
        }
        for answer in answers {
            match compare(&mut compiled, entry, &answer) {
                Ok(is_successful) => successful += usize::from(is_successful),
                Err(error) => {
                    wrong.push(format!("{} {}: {}: {error}: {}", route.method, route.path, answer.0, answer.1))
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(successful > 35, "only {successful} responses had a body to compare");
}

/// The JSON of message parts is written by hand, and so is their schema.
#[tokio::test]
async fn message_parts_match_their_schema() {
    routes().await;
    let schema = compile(&json!({ "$ref": "#/components/schemas/UiPart" }));
    let check = |part: Value, expected: bool| {
        assert_eq!(schema.check_blocking(&part, 1).is_ok(), expected, "{part}");
        let is_read = serde_json::from_value::<wire::UiPart>(part.clone()).is_ok();
        assert_eq!(is_read, expected, "the schema and the reader differ: {part}");
    };
    check(json!({ "type": "text", "text": "x", "state": "done" }), true);
    check(json!({ "type": "reasoning", "id": "1", "text": "x", "providerMetadata": { "p": { "a": 1 } } }), true);
    check(json!({ "type": "file", "mediaType": "image/png", "url": "data:,", "filename": "f" }), true);
    check(json!({ "type": "source-url", "sourceId": "s", "url": "https://example.org", "title": "T" }), true);
    check(json!({ "type": "source-document", "sourceId": "s", "mediaType": "application/pdf", "title": "T" }), true);
    check(json!({ "type": "step-start" }), true);
    check(json!({ "type": "data-title", "id": "1", "data": null }), true);
    check(json!({ "type": "tool-a", "toolCallId": "c", "state": "output-available", "output": null }), true);
    check(json!({ "type": "later-kind", "anything": [1, { "a": 2 }] }), true);
    let approval =
        json!({ "id": "a", "approved": false, "terms": { "exposed": { "private": "t" }, "cutOff": "open" } });
    check(
        json!({ "type": "dynamic-tool", "toolName": "t", "toolCallId": "c", "state": "output-denied", "approval": approval }),
        true,
    );
    check(json!(7), false);
    check(json!({}), false);
    check(json!({ "type": "text" }), false);
    check(json!({ "type": "text", "text": "x", "state": "later" }), false);
    check(json!({ "type": "data-title" }), false);
    check(json!({ "type": "tool-a", "toolCallId": "c" }), false);
    check(json!({ "type": "tool-a", "toolCallId": "c", "state": "running" }), false);
}
