//! Operators that have another name or form.

use super::request::Requests;
use super::{Notes, templates};
use crate::tree::{Entry, Tree, Value};
use std::collections::HashMap;

/// Where values are evaluated, and what their paths mean there.
pub(super) enum Place<'a> {
    /// On a page with requests.
    Page(&'a Requests),
    /// In a routine. The results of some steps have another shape: the first part of the path into
    /// the result of a step, and what it is now.
    Routine(&'a HashMap<String, Renamed>),
}

/// A part of a step's result that has another name. Without a name, the result itself is it.
pub(super) type Renamed = (&'static str, Option<&'static str>);

/// Operators that read a value by a path.
const READERS: [&str; 13] = [
    "_state",
    "_user",
    "_payload",
    "_step",
    "_item",
    "_event",
    "_url_query",
    "_error",
    "_agent",
    "_request",
    "_api",
    "_actions",
    "_shared_state",
];

/// Converts all operators in a value.
pub(super) fn convert(tree: &mut Tree, place: &Place<'_>, notes: &mut Notes<'_>) {
    tree.for_each_mut(&mut |tree| {
        simplify_reader(tree);
        let Some((name, argument)) = tree.operator() else { return };
        match name {
            "_string.concat" | "_string" if operators::definition(name).is_none() => {
                if let Some(template) = templates::from_pieces(argument) {
                    let at = tree.at;
                    tree.value = Tree::map_at(at, vec![("_template", Tree::text_at(at, template))]).value;
                }
            }
            "_nunjucks" => {
                let scope = if matches!(place, Place::Page(_)) { "state" } else { "payload" };
                if let Some(template) = templates::from_nunjucks(argument, scope) {
                    let at = tree.at;
                    tree.value = Tree::map_at(at, vec![("_template", Tree::text_at(at, template))]).value;
                }
            }
            "_moment.format" | "_moment.humanizeDuration" => {
                let now = name.replace("_moment.", "_dayjs.");
                rename_operator(tree, &now);
            }
            "_user" if matches!(place, Place::Routine(_)) => convert_user(tree, notes),
            _ => {
                if let Some((name, path)) = argument.text().and_then(|path| renamed(name, path, place)) {
                    let at = argument.at;
                    tree.value = Tree::map_at(at, vec![(name, Tree::text_at(at, path))]).value;
                }
            }
        }
    });
}

/// Gives an operator another name.
fn rename_operator(tree: &mut Tree, name: &str) {
    if let Value::Map(entries) = &mut tree.value
        && let [entry] = entries.as_mut_slice()
    {
        name.clone_into(&mut entry.key);
    }
}

/// Renames the field of the user that has their id, and notes fields that users do not have here.
fn convert_user(tree: &mut Tree, notes: &mut Notes<'_>) {
    let Some((_, argument)) = tree.operator() else { return };
    let Some(path) = argument.text() else { return };
    match path.split('.').next().unwrap_or(path) {
        "sub" => {
            let (at, path) = (argument.at, path.replacen("sub", "id", 1));
            tree.value = Tree::map_at(tree.at, vec![("_user", Tree::text_at(at, path))]).value;
        }
        field if config::USER_KEYS.contains(&field) => {}
        field => {
            let what = format!("a user has no `{field}`: `_user: {path}` is null");
            notes.changed(argument.at, what, "a user has `id`, `name` and `roles`; look anything else up by the id");
        }
    }
}

/// Returns the name and the path of an operator that reads the same value, if they differ.
fn renamed(name: &str, path: &str, place: &Place<'_>) -> Option<(&'static str, String)> {
    let (first, rest) = path.split_once('.').map_or((path, ""), |(first, rest)| (first, rest));
    match (name, place) {
        ("_request", Place::Page(requests)) => {
            let shape = requests.get(first).and_then(|request| request.shape);
            Some(("_state", join(&request_key(first), &reshaped(rest, shape))))
        }
        ("_api", Place::Page(_)) => Some(("_state", join(&api_key(first), without(rest, "response")))),
        ("_actions", Place::Page(_)) => Some(("_step", join(first, without(rest, "response")))),
        ("_step", Place::Routine(shapes)) => {
            let shape = shapes.get(first).copied();
            Some(("_step", join(first, &reshaped(rest, shape)))).filter(|(_, now)| now != path)
        }
        _ => None,
    }
}

/// Returns the path into a result whose first part has another name.
fn reshaped(path: &str, shape: Option<Renamed>) -> String {
    let (head, tail) = path.split_once('.').unwrap_or((path, ""));
    match shape {
        Some((part, now)) if part == head => now.map_or_else(|| tail.to_owned(), |now| join(now, tail)),
        _ => path.to_owned(),
    }
}

/// Returns the property with another name in the result of a type of request.
pub(super) fn shape_of(kind: &str) -> Option<Renamed> {
    match kind {
        "AxiosHttp" => Some(("data", Some("body"))),
        "KnexRaw" => Some(("rows", None)),
        _ => None,
    }
}

/// The key of the page state that has the response of a request of the page.
pub(super) fn request_key(request: &str) -> String {
    format!("request_{}", request.replace(['.', '/'], "_"))
}

/// The key of the page state that has the response of an endpoint.
pub(super) fn api_key(endpoint: &str) -> String {
    format!("api_{}", endpoint.replace(['.', '/'], "_"))
}

/// Joins two parts of a path, of which the second may be empty.
fn join(first: &str, rest: &str) -> String {
    if rest.is_empty() { first.to_owned() } else { format!("{first}.{rest}") }
}

/// Returns a path without its first step, if it is this one.
fn without<'p>(path: &'p str, first: &str) -> &'p str {
    match path.strip_prefix(first) {
        Some("") => "",
        Some(rest) if rest.starts_with('.') => &rest[1..],
        _ => path,
    }
}

/// Brings `{ key: path }`, `{ all: true }` and `{ key: path, default: value }` into a form that
/// both languages have.
fn simplify_reader(tree: &mut Tree) {
    let at = tree.at;
    let Some((name, argument)) = tree.operator() else { return };
    if !READERS.contains(&name) || !argument.is_map() {
        return;
    }
    let name = name.to_owned();
    let reads = |argument: Tree| Value::Map(vec![Entry { key: name.clone(), key_at: at, value: argument }]);
    if argument.get("all").is_some_and(|all| matches!(all.value, Value::Bool(true))) {
        tree.value = reads(Tree::new(at, Value::Bool(true)));
        return;
    }
    let Some(key) = argument.get("key").filter(|key| key.text().is_some()).cloned() else { return };
    let read = Tree::new(at, reads(key));
    tree.value = match argument.get("default").cloned() {
        None => read.value,
        Some(default) => {
            let null = Tree::new(at, Value::Null);
            let test = Tree::map_at(at, vec![("_eq", Tree::list_at(at, vec![read.clone(), null]))]);
            let choice = Tree::map_at(at, vec![("test", test), ("then", default), ("else", read)]);
            Tree::map_at(at, vec![("_if", choice)]).value
        }
    };
}

/// Returns the expression that reads the same value as an operator.
pub(super) fn expression(tree: &Tree) -> Option<String> {
    let (name, argument) = tree.operator()?;
    let scope = match name {
        "_payload" => "payload",
        "_step" => "step",
        "_state" => "state",
        "_user" => "user",
        "_item" => "item",
        "_url_query" => "url_query",
        "_event" => "event",
        _ => return None,
    };
    let path = argument.text().filter(|path| path.split('.').all(templates::is_name))?;
    Some(format!("{scope}.{path}"))
}

/// Describes the text around a secret: `Bearer ` and TOKEN.
pub(super) fn literal_around_secret(tree: &Tree) -> Option<String> {
    let (_, pieces) = tree.operator().filter(|(name, _)| name.starts_with("_string"))?;
    let pieces = pieces.items().iter().map(|piece| match (piece.text(), piece.operator()) {
        (Some(literal), _) => Some(format!("`{literal}`")),
        (_, Some(("_secret", name))) => Some(format!("the value of {}", name.text()?)),
        _ => None,
    });
    Some(pieces.collect::<Option<Vec<_>>>()?.join(" and "))
}
