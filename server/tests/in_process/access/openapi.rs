//! The OpenAPI document: it has all routes of the API, with their scopes, bodies and parameters.

use super::expected_scope;
use super::inventory::{document, inventory};
use serde_json::Value;
use std::collections::BTreeSet;

/// Routes for browsers, which the document does not contain, and what answers for SCIM that there is nothing.
const PAGES: [&str; 14] = [
    "/account/",
    "/admin",
    "/auth/",
    "/shared/",
    "/pkg/",
    "/ui/",
    "/admin/",
    "/embed/",
    "/docs/",
    "/embed.js",
    "/embed-check.js",
    "/api/artifacts/frame",
    "/mcp-apps/",
    "/scim/v2/{*rest}",
];

/// Returns the routes of the router that the document must contain.
async fn routes() -> BTreeSet<String> {
    let is_page = |path: &str| {
        let fits = |page: &&str| path == page.trim_end_matches('/') || page.ends_with('/') && path.starts_with(*page);
        PAGES.iter().any(fits)
    };
    let routes = inventory().await.into_iter().filter(|(path, _)| !is_page(path));
    routes.map(|(path, method)| format!("{path} {}", method.as_str().to_lowercase())).collect()
}

/// Returns each operation with its path and method.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, operations)| {
        operations.as_object().unwrap().iter().map(|(method, entry)| (path.clone(), method.clone(), entry))
    });
    operations.collect()
}

/// The document says with which scope an API key is accepted.
#[tokio::test]
async fn every_tag_names_the_scope_of_its_routes() {
    inventory().await;
    for (path, method, entry) in operations(document()) {
        let tag = document()["tags"].as_array().unwrap().iter().find(|tag| tag["name"] == entry["tags"][0]);
        let description = tag.unwrap()["description"].as_str().unwrap();
        let accepts_keys = entry["security"].as_array().unwrap().iter().any(|way| way["key"].is_array());
        match expected_scope(&method, &path) {
            Some(scope) => {
                let is_named = description.contains(&format!("Scope `{}`", scope.name()));
                assert!(is_named && accepts_keys, "{path}: {description}");
            }
            None => {
                // Agent platforms have a key of their own.
                let is_closed = !accepts_keys || path.starts_with("/remote-agent/");
                assert!(!description.contains("Scope `") && is_closed, "{path}: {description}");
            }
        }
    }
}

#[tokio::test]
async fn document_lists_exactly_the_api_routes() {
    let there = routes().await;
    let documented: BTreeSet<_> =
        operations(document()).into_iter().map(|(path, method, _)| format!("{path} {method}")).collect();
    assert!(there.len() > 50, "too few routes were found: {there:?}");
    let missing: Vec<_> = there.difference(&documented).collect();
    let gone: Vec<_> = documented.difference(&there).collect();
    assert_eq!((missing, gone), (Vec::<&String>::new(), Vec::<&String>::new()));
}

/// A body of an unknown type says nothing to a client.
#[tokio::test]
async fn bodies_and_parameters_are_described() {
    inventory().await;
    // Defined by the config, by another standard, or bytes.
    let open = [
        "/api/endpoints/",
        "/api/openapi.json",
        "/remote-agent/tools/",
        "/api/files",
        "/api/transcriptions",
        "/api/hooks/",
        "/api/channels/",
        "/api/conversations/{id}/files",
        "/api/folders/{id}/export",
        "/api/libraries/{id}/documents",
        "/api/documents/{id}/file",
        "/.well-known/agent-card.json",
        "/a2a/{agent}/",
        "/v1/responses",
        "/mcp",
        "/scim/v2/",
    ];
    for (path, method, entry) in operations(document()) {
        let bodies = entry["responses"].as_object().unwrap().values().chain(entry.get("requestBody"));
        for (media, body) in bodies.filter_map(|body| body["content"].as_object()).flatten() {
            let schema = &body["schema"];
            let named = schema.get("$ref").or_else(|| schema["items"].get("$ref"));
            let is_known =
                named.is_some() || schema["type"] == "string" || open.iter().any(|open| path.starts_with(open));
            assert!(is_known, "{method} {path}, {media}: {schema}");
        }
        for parameter in entry["parameters"].as_array().into_iter().flatten().filter(|of| of["in"] == "query") {
            assert!(parameter["description"].is_string(), "{method} {path}: {parameter}");
        }
    }
}

#[tokio::test]
async fn schemas_are_defined_and_used_and_operation_ids_are_unique() {
    inventory().await;
    let document = document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let text = document.to_string();
    let named: BTreeSet<_> =
        text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let known: BTreeSet<_> = schemas.keys().map(String::as_str).collect();
    assert_eq!(named, known, "each schema is used, and each is defined");
    // Two types of the same name would be told apart by a number.
    let numbered: Vec<_> = known.iter().filter(|name| name.ends_with(|sign: char| sign.is_ascii_digit())).collect();
    assert!(numbered.is_empty(), "{numbered:?}");
    let undescribed: Vec<_> = schemas.iter().filter(|(_, schema)| schema["description"].is_null()).collect();
    assert!(undescribed.is_empty(), "{undescribed:?}");
    for (name, schema) in schemas {
        for word in ["crate::", "[`", "`None`"] {
            assert!(!schema.to_string().contains(word), "{name} is described for Rust: {schema}");
        }
    }
    let operations = operations(document);
    let ids: BTreeSet<_> = operations.iter().map(|(_, _, entry)| entry["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len());
}
