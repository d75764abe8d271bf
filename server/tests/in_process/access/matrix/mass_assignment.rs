//! Mass assignment: bodies that name every column of the database.

use super::bodies::{self, RequestBody, arguments, columns, schema};
use super::fixture::{TestServer, owner};
use super::{Route, routes};
use axum::http::Method;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Fields of forms and server functions that have the same name as a column. Required fields are
/// found automatically, see `required_fields`.
const ACCEPTED_FIELDS: &[(&str, &[&str])] = &[
    // A part of a message.
    ("/api/agent/{page}/{agent}", &["state"]),
    ("/api/runs/invoke", &["agent_id"]),
    ("/api/runs", &["agent_id"]),
    ("/account/agents", OWN),
    ("/account/agents/{id}", OWN),
    ("/account/profile", &["content"]),
    ("/account/projects", PROJECT),
    ("/account/projects/{id}", PROJECT),
    ("/account/projects/{id}/members", &["name", "role"]),
    ("/account/projects/{id}/members/{member}", &["role"]),
    ("/account/prompts", PROMPT),
    ("/account/prompts/{id}", PROMPT),
    ("/account/agents/{id}/sharing", &["roles"]),
    ("/admin/agents/{id}/ask", &["text"]),
    ("/admin/agents/{id}/tools/{tool}", &["arguments"]),
    ("/admin/custom-agents", CUSTOM),
    ("/admin/custom-agents/{id}", CUSTOM),
    ("/admin/groups", &["description", "name", "role", "roles"]),
    ("/admin/invitations", &["label", "role", "roles"]),
    ("/admin/mcp-server-tests", SERVER),
    ("/admin/mcp-servers", SERVER),
    ("/admin/mcp-servers/{name}", SERVER),
    ("/admin/models", MODELS),
    ("/admin/models/{name}", MODELS),
    ("/admin/models/{name}/test", &["model"]),
    ("/admin/prompts", PROMPT),
    ("/admin/prompts/{id}", PROMPT),
    ("/admin/users", &["name", "role", "roles"]),
    ("/auth/invitation", &["name"]),
    ("/auth/new-password", &["name"]),
    ("/auth/sign-in", &["name"]),
    ("/ui/change", &["title", "pinned", "archived", "folderId", "unread", "deleted", "temporary"]),
];
const CUSTOM: &[&str] = &["description", "instructions", "model", "name", "version"];
const SERVER: &[&str] = &["agent", "description", "name", "scope", "url", "version"];
const MODELS: &[&str] = &["agent", "model", "name", "provider", "version"];
const PROMPT: &[&str] = &["description", "name", "roles", "text", "version"];
const PROJECT: &[&str] = &["agent", "color", "folder", "instructions", "library", "model", "name", "version"];
const OWN: &[&str] = &["description", "instructions", "model", "name", "title", "version"];

/// Required fields that a form does not report as missing.
const UNREPORTED_FIELDS: [(&str, &str); 1] = [("/admin/users", "name")];

/// Returns whether a route reads bodies.
fn is_writing(route: &Route) -> bool {
    matches!(route.method, Method::POST | Method::PUT | Method::PATCH)
}

/// Returns the owner's body, and the same body with all further columns set to `canary`.
async fn plain_and_full_body(server: &TestServer, route: &Route, own: &str, canary: &str) -> [RequestBody; 2] {
    let taken = ACCEPTED_FIELDS.iter().find(|(path, _)| *path == route.path).map_or(&[][..], |(_, taken)| taken);
    let columns: BTreeSet<_> = columns().iter().filter(|column| !taken.contains(&column.as_str())).cloned().collect();
    let is_json = route.path.starts_with("/ui/") || schema(route).is_some();
    if is_json {
        let plain = match schema(route) {
            Some(_) => bodies::body(route, own).pop(),
            None => Some(RequestBody::Json(required_fields(server, route, own).await.into())),
        };
        let Some(RequestBody::Json(plain)) = plain else { panic!("{route:?} has no body") };
        let mut full = plain.clone();
        add_columns(&mut full, &columns, canary);
        return [RequestBody::Json(plain), RequestBody::Json(full)];
    }
    let known = required_fields(server, route, own).await;
    let pairs = |more: &Map<String, Value>| {
        let pairs = more.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("mine")));
        RequestBody::Form(pairs.collect::<Vec<_>>().join("&"))
    };
    let mut full = Value::Object(known.clone());
    add_columns(&mut full, &columns, canary);
    [pairs(&known), pairs(full.as_object().unwrap())]
}

/// Adds the columns to every nested object that lacks them.
fn add_columns(value: &mut Value, columns: &BTreeSet<String>, canary: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| add_columns(item, columns, canary)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| add_columns(value, columns, canary));
            let taken: BTreeSet<_> = object.keys().map(|name| normalized(name)).collect();
            for column in columns.iter().filter(|column| !taken.contains(&normalized(column))) {
                object.insert(column.clone(), canary.into());
            }
        }
        _ => {}
    }
}

/// Normalizes a name, since some fields have two spellings.
fn normalized(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// Finds the required fields of a form or a server function by leaving them out.
async fn required_fields(server: &TestServer, route: &Route, own: &str) -> Map<String, Value> {
    let is_form = !route.path.starts_with("/ui/");
    let mut arguments = if is_form { Map::new() } else { arguments(route, own) };
    for (_, field) in UNREPORTED_FIELDS.iter().filter(|(path, _)| *path == route.path) {
        arguments.insert((*field).to_owned(), "mine".into());
    }
    let mut known = arguments.clone();
    for _ in 0..20 {
        let sent = if is_form {
            RequestBody::Form(known.keys().map(|name| format!("{name}=mine")).collect::<Vec<_>>().join("&"))
        } else {
            RequestBody::Json(known.clone().into())
        };
        let (_, answer) = server.ask(owner(route), route, super::UNKNOWN_ID, sent, "").await;
        let missing = answer.split_once("missing field `").and_then(|(_, rest)| rest.split_once('`'));
        let Some((missing, _)) = missing.filter(|(missing, _)| !known.contains_key(*missing)) else { break };
        let is_id = ["id", "Id"].iter().any(|end| missing.ends_with(end));
        known.insert(missing.to_owned(), if is_id { own.into() } else { "mine".into() });
    }
    known
}

/// Reading all tables takes longer than most requests, so it is done once after so many routes.
const ROUTES_PER_SEARCH: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn extra_columns_in_bodies_are_not_stored() {
    let server = TestServer::open().await;
    let (mut tried, mut done, mut wrong) = (0, 0, Vec::new());
    // Another test tries routes with a closed body with one column at a time.
    let is_closed =
        |route: &Route| schema(route).is_some_and(|schema| schema["additionalProperties"] == Value::Bool(false));
    let routes: Vec<_> = routes().await.into_iter().filter(|route| is_writing(route) && !is_closed(route)).collect();
    for (number, routes) in routes.chunks(ROUTES_PER_SEARCH).enumerate() {
        let canary = format!("smuggled{number}x");
        for route in routes {
            tried += 1;
            let own = server.own_id(route);
            let [plain, full] = plain_and_full_body(&server, route, &own, &canary).await;
            let (of_plain, _) = server.ask(owner(route), route, &own, plain, "").await;
            let (status, answer) = server.ask(owner(route), route, &own, full, "").await;
            done += usize::from(of_plain < 400);
            // A form that is refused shows what was entered in its own fields, which have names of columns, too.
            let in_own_field = answer.matches(&format!("value=\"{canary}\"")).count();
            let is_repeated = answer.matches(&canary).count() > if status == 422 { in_own_field } else { 0 };
            // A field of another type may repeat the value in its error.
            let is_right = status < 500 && !is_repeated && (of_plain >= 400 || ![400, 422].contains(&status));
            if !is_right {
                let at = answer.find(&canary).map_or(0, |at| answer.floor_char_boundary(at.saturating_sub(150)));
                let case = format!("{} {}: {of_plain}, then {status} {}", route.method, route.path, &answer[at..]);
                wrong.push(case.chars().take(500).collect::<String>());
            }
        }
        let found = server.tables.columns_with(&canary).await;
        if !found.is_empty() {
            wrong.push(format!("one of {routes:?} has written {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tried > 30 && done > 12, "{tried} routes were tried, {done} did what they were asked");
}
