//! The document of the HTTP API for programs (OpenAPI 3.1), made of a table of its routes. A test holds the table against the router.

mod operations;
mod schemas;

use axum::Json;
use operations::{Answer, OPERATIONS, Operation, Tag};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Where the document is.
pub(crate) const PATH: &str = "/api/openapi.json";

pub(crate) static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

/// `GET /api/openapi.json`: the same for all, and nothing of the config.
pub(crate) async fn show() -> Json<&'static Value> {
    Json(&DOCUMENT)
}

fn document() -> Value {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Chatwright",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Conversations with agents, endpoints, and the administration, for programs. A program sends its key, which \
                            opens what its scopes name; in the auth mode `jwt` also a token of the application around.",
        },
        "tags": Tag::ALL.map(|tag| json!({ "name": tag.name(), "description": tag.description() })),
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "key": { "type": "apiKey", "in": "header", "name": "x-api-key" },
                "session": { "type": "apiKey", "in": "cookie", "name": "cw_session" },
            },
        },
    })
}

fn described(operation: &Operation) -> Value {
    let mut described = json!({
        "tags": [operation.tag.name()],
        "operationId": id(operation),
        "summary": operation.summary,
        "responses": responses(operation),
        "security": match operation.tag {
            Tag::Operation => json!([]),
            Tag::Platforms => json!([{ "key": [] }]),
            Tag::Approvals => json!([{}, { "bearer": [] }, { "session": [] }]),
            _ => json!([{}, { "bearer": [] }, { "key": [] }, { "session": [] }]),
        },
    });
    let parameters: Vec<_> = in_path(operation.path).chain(operation.query.iter().map(in_query)).collect();
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if let Some(body) = operation.body {
        let (media, schema) = match body {
            "" => ("application/octet-stream", json!({})),
            name => ("application/json", reference(name)),
        };
        described["requestBody"] = json!({ "required": true, "content": { media: { "schema": schema } } });
    }
    described
}

/// The names in braces.
fn in_path(path: &str) -> impl Iterator<Item = Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
}

fn in_query((name, about): &(&str, &str)) -> Value {
    json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } })
}

/// Such as `get_api_conversations_id`.
fn id(operation: &Operation) -> String {
    let words = operation.path.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(operation.method).chain(words).collect::<Vec<_>>().join("_")
}

fn responses(operation: &Operation) -> Value {
    let content =
        |media: &str, schema: Value| json!({ "description": "Done.", "content": { media: { "schema": schema } } });
    let (status, good) = match operation.answer {
        Answer::Json(status, name) => (status, content("application/json", reference(name))),
        Answer::Empty(status) => (status, json!({ "description": "Done." })),
        Answer::Stream => (200, content("text/event-stream", json!({ "type": "string" }))),
        Answer::Text(media) => (200, content(media, json!({ "type": "string" }))),
    };
    let wrong = json!({
        "description": "It was not done; `error.message` says what to do next.",
        "content": { "application/json": { "schema": reference("Error") } },
    });
    json!({ status.to_string(): good, "default": wrong })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::doors;
    use crate::auth::password::Scope;
    use std::collections::BTreeSet;

    /// Documents for people, and what only they and our own pages call.
    const PAGES: [&str; 8] = ["/admin", "/auth/", "/shared/", "/pkg/", "/ui/", "/admin/", "/embed/", "/embed.js"];

    /// The routes for programs.
    async fn routes() -> BTreeSet<String> {
        let is_page = |path: &str| {
            let fits =
                |page: &&str| path == page.trim_end_matches('/') || page.ends_with('/') && path.starts_with(*page);
            PAGES.iter().any(fits)
        };
        let routes = doors::inventory::inventory().await.into_iter().filter(|(path, _)| !is_page(path));
        routes.map(|(path, method)| format!("{path} {}", method.as_str().to_lowercase())).collect()
    }

    /// What the document says of scopes is what keys are held to.
    #[test]
    fn every_tag_names_the_scope_that_opens_its_routes() {
        for operation in OPERATIONS {
            let said = operation.tag.description();
            match Scope::of_path(operation.path) {
                Some(scope) => {
                    assert!(said.contains(&format!("Scope `{}`", scope.name())), "{}: {said}", operation.path)
                }
                None => assert!(!said.contains("Scope `"), "{}: {said}", operation.path),
            }
        }
    }

    #[tokio::test]
    async fn every_route_is_in_it_and_nothing_else() {
        let mut told = BTreeSet::new();
        for (path, operations) in document()["paths"].as_object().unwrap() {
            told.extend(operations.as_object().unwrap().keys().map(|method| format!("{path} {method}")));
        }
        let there = routes().await;
        assert!(there.len() > 50, "the router's routes are not found: {there:?}");
        let missing: Vec<_> = there.difference(&told).collect();
        let gone: Vec<_> = told.difference(&there).collect();
        assert_eq!((missing, gone), (Vec::<&String>::new(), Vec::<&String>::new()));
    }

    #[test]
    fn what_is_referred_to_is_there() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        let named: BTreeSet<_> =
            text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let known: BTreeSet<_> = schemas.keys().map(String::as_str).collect();
        assert_eq!(named, known, "each is used, and each is there");
        let ids: BTreeSet<_> = OPERATIONS.iter().map(id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
    }
}
