//! `sharedState` of a chat: the values of the page that its agent sees.

use crate::section::dynamic::{self, ValueContext};
use crate::section::operator::FoundOperator;
use crate::section::pages::PageIndex;
use crate::section::{Context, operator, refuse_prototype_key};
use config_source::{MapEntry, Node, NodeKind, Report, suggest};
use serde_json::{Map, Value, json};

/// Checks the shared state of a chat and puts it into the chat's properties as the browser gets it.
pub(crate) fn read(
    properties: &mut Map<String, Value>,
    block: &Node,
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) {
    let property = |name: &str| block.get("properties").and_then(|properties| properties.value.get(name));
    let given = properties.remove("sharedState");
    let shared = property("sharedState").map(|entry| values(given, entry, survey, context)).unwrap_or_default();
    check_read_only(property("sharedStateReadOnly"), &shared, context.report);
    if context.is_embedded && is_state_of_site(&shared, survey) {
        properties.insert("sharedStateReadOnly".to_owned(), true.into());
    }
    let of_site = keys_of_site(&shared, survey, context.is_embedded);
    if !of_site.is_empty() && properties.get("sharedStateReadOnly") != Some(&Value::Bool(true)) {
        let read_only = properties.entry("sharedStateReadOnly").or_insert_with(|| json!([]));
        match read_only {
            Value::Array(keys) => keys.extend(of_site),
            all => *all = Value::Array(of_site),
        }
    }
    if !shared.is_empty() {
        properties.insert("sharedState".to_owned(), Value::Object(shared));
    }
}

/// Checks the values and returns them.
fn values(
    given: Option<Value>,
    MapEntry { key_at, value: node, .. }: &MapEntry,
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) -> Map<String, Value> {
    let allowed = dynamic::place(ValueContext::Property, context.vocabulary.operators()).names();
    let whole = match node.entries() {
        [MapEntry { key, value, .. }] if allowed.contains(&key.as_str()) => Some((key.as_str(), value)),
        _ => None,
    };
    if let Some(("_state", Node { kind: NodeKind::Bool(true), .. })) = whole {
        let help = "list the keys that it needs, `key: { _state: key }`".to_owned();
        let message = "the agent sees and may write every input of this page, and every key that an action sets";
        context.report.warning(*key_at, message, Some(help));
        return survey.state.iter().map(|key| ((*key).to_owned(), json!({ "_state": key }))).collect();
    }
    for MapEntry { key, key_at, value } in node.entries() {
        refuse_prototype_key(key, *key_at, context.report);
        if key.starts_with('_') && whole.is_none() {
            let help = "write `key: { _state: id }`".to_owned();
            context.report.error(*key_at, format!("`{key}` cannot be the name of a shared value"), Some(help));
        }
        if whole.is_none() {
            check_operators(value, survey, context);
        }
    }
    if whole.is_some() {
        check_operators(node, survey, context);
    }
    match given {
        Some(Value::Object(values)) => values,
        _ => Map::new(),
    }
}

fn check_operators(value: &Node, survey: &PageIndex<'_>, context: &mut Context<'_, '_>) {
    let (is_embedded, place) =
        (context.is_embedded, dynamic::place(ValueContext::Property, context.vocabulary.operators()));
    operator::for_each_operator(value, place, context.report, &mut |operator, report| {
        check(operator, survey, is_embedded, report);
    });
}

/// Warns of a key that nothing on the page writes. If other sites may embed the chat, they may set
/// such keys, so only a key that looks like a misspelt input is reported.
fn check(operator: FoundOperator<'_>, survey: &PageIndex<'_>, is_embedded: bool, report: &mut Report) {
    let value = operator.value;
    if operator.key != "_state" {
        return;
    }
    let Some(path) = value.text() else {
        let message = format!("`_state` takes the id of an input here, found {}", value.describe());
        return report.error(value.at, message, None);
    };
    let is_misspelt = || suggest::nearest(path, survey.inputs.iter().copied()).is_some();
    if !survey.state.contains(&first_key(path)) && (!is_embedded || is_misspelt()) {
        let help = suggest::help(path, survey.inputs.iter().copied());
        report.warning(value.at, format!("no input on this page has the id `{path}`"), help);
    }
}

/// Reports keys of `sharedStateReadOnly` that are not shared.
fn check_read_only(entry: Option<&MapEntry>, shared: &Map<String, Value>, report: &mut Report) {
    // The keys of an object that an operator yields are not known.
    if wire::page::shared_object(shared).is_some() {
        return;
    }
    let keys = entry.map(|entry| entry.value.items()).unwrap_or_default();
    for (key, at) in keys.iter().filter_map(|node| Some((node.text()?, node.at))) {
        if !shared.contains_key(key) {
            let help = suggest::help(key, shared.keys().map(String::as_str));
            report.error(at, format!("this chat does not share `{key}`"), help);
        }
    }
}

/// Returns the keys that only an embedding site can set, because nothing on the page does. They are
/// the site's, so its visitors' agents can only read them.
fn keys_of_site(shared: &Map<String, Value>, survey: &PageIndex<'_>, is_embedded: bool) -> Vec<Value> {
    let of_site = |expression: &Value| expression.as_object().is_some_and(|own| is_state_of_site(own, survey));
    let keys = shared.iter().filter(|(_, expression)| is_embedded && of_site(expression));
    keys.map(|(key, _)| key.as_str().into()).collect()
}

/// Whether a value is `{ _state: path }` of a key that nothing on the page sets.
fn is_state_of_site(value: &Map<String, Value>, survey: &PageIndex<'_>) -> bool {
    let path = Some(value).filter(|operator| operator.len() == 1).and_then(|own| own.get("_state"));
    path.and_then(Value::as_str).is_some_and(|path| !survey.state.contains(&first_key(path)))
}

fn first_key(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
