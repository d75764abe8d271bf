//! Bodies that name what they may not set: every column of the database, in every body (A7).

use super::bodies::{self, Sent, arguments, columns, schema};
use super::house::{House, owner};
use super::{Route, routes};
use axum::http::Method;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What forms and server functions take although a column has the same name. Those that are missed are said by the functions themselves.
const TAKEN: [(&str, &[&str]); 7] = [
    ("/api/runs/invoke", &["agent_id"]),
    ("/admin/agents/{id}/tools/{tool}", &["arguments"]),
    ("/admin/custom-agents", CUSTOM),
    ("/admin/custom-agents/{id}", CUSTOM),
    ("/admin/users", &["name", "role", "roles"]),
    ("/auth/sign-in", &["name"]),
    ("/ui/change", &["title", "pinned", "archived", "folderId", "unread", "deleted", "temporary"]),
];
const CUSTOM: &[&str] = &["name", "version"];

/// Fields that a form asks for without naming them as missing.
const ASKED_FOR: [(&str, &str); 1] = [("/admin/users", "name")];

/// Whether a route reads bodies.
fn is_writing(route: &Route) -> bool {
    matches!(route.method, Method::POST | Method::PUT | Method::PATCH)
}

/// The body as its owner sends it, and the same with every column that is not part of it, set to `canary`.
async fn smuggling(house: &House, route: &Route, own: &str, canary: &str) -> [Sent; 2] {
    let taken = TAKEN.iter().find(|(path, _)| *path == route.path).map_or(&[][..], |(_, taken)| taken);
    let columns: BTreeSet<_> = columns().into_iter().filter(|column| !taken.contains(&column.as_str())).collect();
    let is_json = route.path.starts_with("/ui/") || schema(route).is_some();
    if is_json {
        let plain = match schema(route) {
            Some(_) => bodies::body(route, own).pop(),
            None => Some(Sent::Json(known(house, route, own).await.into())),
        };
        let Some(Sent::Json(plain)) = plain else { panic!("{route:?} has no body") };
        let mut full = plain.clone();
        smuggle(&mut full, &columns, canary);
        return [Sent::Json(plain), Sent::Json(full)];
    }
    let known = known(house, route, own).await;
    let pairs = |more: &Map<String, Value>| {
        let pairs = more.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("mine")));
        Sent::Form(pairs.collect::<Vec<_>>().join("&"))
    };
    let mut full = Value::Object(known.clone());
    smuggle(&mut full, &columns, canary);
    [pairs(&known), pairs(full.as_object().unwrap())]
}

/// Puts the columns into every object within, unless they are there.
fn smuggle(value: &mut Value, columns: &BTreeSet<String>, canary: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| smuggle(item, columns, canary)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| smuggle(value, columns, canary));
            let taken: BTreeSet<_> = object.keys().map(|name| plain(name)).collect();
            for column in columns.iter().filter(|column| !taken.contains(&plain(column))) {
                object.insert(column.clone(), canary.into());
            }
        }
        _ => {}
    }
}

/// A name however it is written: some fields have two.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// The fields that a form or a server function asks for, found out by leaving them out.
async fn known(house: &House, route: &Route, own: &str) -> Map<String, Value> {
    let is_form = !route.path.starts_with("/ui/");
    let mut arguments = if is_form { Map::new() } else { arguments(route, own) };
    for (_, field) in ASKED_FOR.iter().filter(|(path, _)| *path == route.path) {
        arguments.insert((*field).to_owned(), "mine".into());
    }
    let mut known = arguments.clone();
    for _ in 0..20 {
        let sent = match is_form {
            true => Sent::Form(known.keys().map(|name| format!("{name}=mine")).collect::<Vec<_>>().join("&")),
            false => Sent::Json(known.clone().into()),
        };
        let (_, answer) = house.ask(owner(route), route, super::NOWHERE, sent, "").await;
        let missing = answer.split_once("missing field `").and_then(|(_, rest)| rest.split_once('`'));
        let Some((missing, _)) = missing.filter(|(missing, _)| !known.contains_key(*missing)) else { break };
        let is_id = ["id", "Id"].iter().any(|end| missing.ends_with(end));
        known.insert(missing.to_owned(), if is_id { own.into() } else { "mine".into() });
    }
    known
}

#[tokio::test(flavor = "multi_thread")]
async fn no_column_takes_what_no_body_is_to_name() {
    let house = House::open().await;
    let (mut tried, mut done, mut wrong) = (0, 0, Vec::new());
    for (number, route) in routes().await.into_iter().filter(is_writing).enumerate() {
        // Those are refused as a whole, one column at a time.
        if schema(&route).is_some_and(|schema| schema["additionalProperties"] == Value::Bool(false)) {
            continue;
        }
        tried += 1;
        let (own, canary) = (house.own(&route), format!("smuggled{number}x"));
        let [plain, full] = smuggling(&house, &route, &own, &canary).await;
        let (of_plain, _) = house.ask(owner(&route), &route, &own, plain, "").await;
        let (status, answer) = house.ask(owner(&route), &route, &own, full, "").await;
        done += usize::from(of_plain < 400);
        // A field that is read and is of another kind says what it was given.
        let is_right = status < 500 && !answer.contains(&canary) && (of_plain >= 400 || ![400, 422].contains(&status));
        let found = house.tables.columns_with(&canary).await;
        if !is_right || !found.is_empty() {
            let at = answer.find(&canary).map_or(0, |at| answer.floor_char_boundary(at.saturating_sub(150)));
            let case = format!("{} {}: {of_plain}, then {status} {}", route.method, route.path, &answer[at..]);
            wrong.push(format!("{found:?} {}", case.chars().take(500).collect::<String>()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tried > 30 && done > 12, "{tried} routes were tried, {done} did what they were asked");
}
