//! The OpenAPI 3.1 document of the HTTP API, built from a table of its routes. A test compares the
//! table with the router.

mod operations;
mod schemas;

use axum::Json;
use operations::{OPERATIONS, Operation, SuccessResponse, Tag};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The path of the document.
pub(crate) const PATH: &str = "/api/openapi.json";

pub(crate) static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

/// `GET /api/openapi.json`: the same for all callers, and independent of the config.
pub(crate) async fn show() -> Json<&'static Value> {
    Json(&DOCUMENT)
}

fn document() -> Value {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = operation_object(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Chatwright",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Chats with agents, endpoints and administration over HTTP. A program authenticates with an API key, whose \
                            scopes limit what it can do, or, in the auth mode `jwt`, with a token of the host application.",
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

fn operation_object(operation: &Operation) -> Value {
    let mut described = json!({
        "tags": [operation.tag.name()],
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "responses": responses(operation),
        "security": match operation.tag {
            Tag::Operation => json!([]),
            Tag::Platforms => json!([{ "key": [] }]),
            Tag::Approvals => json!([{}, { "bearer": [] }, { "session": [] }]),
            _ => json!([{}, { "bearer": [] }, { "key": [] }, { "session": [] }]),
        },
    });
    let parameters: Vec<_> =
        path_parameters(operation.path).chain(operation.query.iter().map(query_parameter)).collect();
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

/// Returns the path parameters, which are in braces.
fn path_parameters(path: &str) -> impl Iterator<Item = Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
}

fn query_parameter((name, about): &(&str, &str)) -> Value {
    json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } })
}

/// Returns the operation id, such as `get_api_conversations_id`.
fn operation_id(operation: &Operation) -> String {
    let words = operation.path.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(operation.method).chain(words).collect::<Vec<_>>().join("_")
}

fn responses(operation: &Operation) -> Value {
    let content =
        |media: &str, schema: Value| json!({ "description": "Success.", "content": { media: { "schema": schema } } });
    let (status, good) = match operation.response {
        SuccessResponse::Json(status, name) => (status, content("application/json", reference(name))),
        SuccessResponse::Empty(status) => (status, json!({ "description": "Success." })),
        SuccessResponse::Stream => (200, content("text/event-stream", json!({ "type": "string" }))),
        SuccessResponse::Text(media) => (200, content(media, json!({ "type": "string" }))),
    };
    let wrong = json!({
        "description": "The request failed; `error.message` says what to do next.",
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
    use crate::access_tests;
    use auth::password::KeyScope;
    use std::collections::BTreeSet;

    /// Routes for browsers, which the document does not contain.
    const PAGES: [&str; 8] = ["/admin", "/auth/", "/shared/", "/pkg/", "/ui/", "/admin/", "/embed/", "/embed.js"];

    /// Returns the routes of the router that the document must contain.
    async fn routes() -> BTreeSet<String> {
        let is_page = |path: &str| {
            let fits =
                |page: &&str| path == page.trim_end_matches('/') || page.ends_with('/') && path.starts_with(*page);
            PAGES.iter().any(fits)
        };
        let routes = access_tests::inventory::inventory().await.into_iter().filter(|(path, _)| !is_page(path));
        routes.map(|(path, method)| format!("{path} {}", method.as_str().to_lowercase())).collect()
    }

    /// The scopes in the document are those that the server enforces.
    #[test]
    fn every_tag_names_the_scope_of_its_routes() {
        for operation in OPERATIONS {
            let description = operation.tag.description();
            match KeyScope::for_path(operation.path) {
                Some(scope) => {
                    assert!(
                        description.contains(&format!("Scope `{}`", scope.name())),
                        "{}: {description}",
                        operation.path
                    )
                }
                None => assert!(!description.contains("Scope `"), "{}: {description}", operation.path),
            }
        }
    }

    #[tokio::test]
    async fn document_lists_exactly_the_api_routes() {
        let mut documented = BTreeSet::new();
        for (path, operations) in document()["paths"].as_object().unwrap() {
            documented.extend(operations.as_object().unwrap().keys().map(|method| format!("{path} {method}")));
        }
        let there = routes().await;
        assert!(there.len() > 50, "too few routes were found: {there:?}");
        let missing: Vec<_> = there.difference(&documented).collect();
        let gone: Vec<_> = documented.difference(&there).collect();
        assert_eq!((missing, gone), (Vec::<&String>::new(), Vec::<&String>::new()));
    }

    #[test]
    fn schemas_are_defined_and_used_and_operation_ids_are_unique() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        let named: BTreeSet<_> =
            text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let known: BTreeSet<_> = schemas.keys().map(String::as_str).collect();
        assert_eq!(named, known, "each schema is used, and each is defined");
        let ids: BTreeSet<_> = OPERATIONS.iter().map(operation_id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
    }
}
