//! `sharedState` of a chat: what its agent sees of the page.

use super::pages::Survey;
use super::{Context, refuse_prototype_key};
use crate::shape::suggest;
use crate::source::{Entry, Kind, Node};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Operators that a browser can evaluate in this version.
const OPERATORS: [&str; 1] = ["_state"];
/// Operators of the language that it cannot evaluate yet.
const OPERATORS_NOT_YET: [&str; 14] = [
    "_user",
    "_url_query",
    "_payload",
    "_step",
    "_shared_state",
    "_item",
    "_if",
    "_eq",
    "_ne",
    "_and",
    "_or",
    "_not",
    "_expr",
    "_template",
];

/// Checks the values and gives them as the browser reads them.
pub(super) fn read(
    entry: IndexMap<String, Value>,
    block: &Node,
    survey: &Survey<'_>,
    context: &mut Context<'_, '_>,
) -> Map<String, Value> {
    let node = block.get("properties").and_then(|properties| properties.value.get("sharedState"));
    let Some(Entry { key_at, value: node, .. }) = node else { return Map::new() };
    if let [Entry { key, value, .. }] = node.entries()
        && key == "_state"
        && matches!(value.kind, Kind::Bool(true))
    {
        let help = "list the keys that it needs, `key: { _state: key }`".to_owned();
        context.report.warning(*key_at, "the agent sees and may write every input of this page", Some(help));
        return survey.inputs.iter().map(|input| ((*input).to_owned(), json!({ "_state": input }))).collect();
    }
    for Entry { key, key_at, value } in node.entries() {
        refuse_prototype_key(key, *key_at, context.report);
        if key.starts_with('_') {
            let help = "write `key: { _state: id }`".to_owned();
            context.report.error(*key_at, format!("`{key}` cannot be the name of a shared value"), Some(help));
        }
        check(value, survey, context);
    }
    entry.into_iter().collect()
}

fn check(value: &Node, survey: &Survey<'_>, context: &mut Context<'_, '_>) {
    match &value.kind {
        Kind::List(items) => items.iter().for_each(|item| check(item, survey, context)),
        Kind::Map(entries) => match entries.as_slice() {
            [operator] if operator.key.starts_with('_') => check_operator(operator, survey, context),
            _ => entries.iter().for_each(|entry| check(&entry.value, survey, context)),
        },
        _ => {}
    }
}

fn check_operator(operator: &Entry, survey: &Survey<'_>, context: &mut Context<'_, '_>) {
    let Entry { key: name, key_at, value } = operator;
    match name.as_str() {
        "_state" => {}
        "_secret" => {
            let help = "secrets belong into `connections`, which stay on the server".to_owned();
            return context.report.error(*key_at, "a secret would reach the browser", Some(help));
        }
        name if OPERATORS_NOT_YET.contains(&name) => {
            return context.report.error(
                *key_at,
                format!("the operator `{name}` is not available here in this version"),
                None,
            );
        }
        name => {
            return context.report.error(
                *key_at,
                format!("there is no operator `{name}`"),
                suggest::help(name, OPERATORS),
            );
        }
    }
    let Some(path) = value.text() else {
        return context.report.error(
            value.at,
            format!("`_state` takes the id of an input, found {}", value.describe()),
            None,
        );
    };
    if !survey.inputs.contains(&path) {
        let help = suggest::help(path, survey.inputs.iter().copied());
        context.report.warning(value.at, format!("no input on this page has the id `{path}`"), help);
    }
}
