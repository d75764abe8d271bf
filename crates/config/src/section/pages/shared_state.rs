//! `sharedState` of a chat: the values of the page that its agent sees.

use crate::section::dynamic::{self, ValueContext};
use crate::section::operator::FoundOperator;
use crate::section::pages::PageIndex;
use crate::section::{Context, operator, refuse_prototype_key};
use crate::shape::suggest;
use crate::source::{MapEntry, Node, NodeKind, Report};
use serde_json::{Map, Value, json};

/// Checks the values and returns them as the browser gets them.
pub(crate) fn read(
    value: Option<Value>,
    block: &Node,
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) -> Map<String, Value> {
    let node = block.get("properties").and_then(|properties| properties.value.get("sharedState"));
    let Some(MapEntry { key_at, value: node, .. }) = node else { return Map::new() };
    if let [MapEntry { key, value, .. }] = node.entries()
        && key == "_state"
        && matches!(value.kind, NodeKind::Bool(true))
    {
        let help = "list the keys that it needs, `key: { _state: key }`".to_owned();
        context.report.warning(*key_at, "the agent sees and may write every input of this page", Some(help));
        return survey.inputs.iter().map(|input| ((*input).to_owned(), json!({ "_state": input }))).collect();
    }
    let is_embedded = context.is_embedded;
    for MapEntry { key, key_at, value } in node.entries() {
        refuse_prototype_key(key, *key_at, context.report);
        if key.starts_with('_') {
            let help = "write `key: { _state: id }`".to_owned();
            context.report.error(*key_at, format!("`{key}` cannot be the name of a shared value"), Some(help));
        }
        operator::for_each_operator(
            value,
            dynamic::place(ValueContext::Property),
            context.report,
            &mut |operator, report| {
                check(operator, survey, is_embedded, report);
            },
        );
    }
    match value {
        Some(Value::Object(values)) => values,
        _ => Map::new(),
    }
}

/// Warns of a key that no input of the page has. If other sites may embed the chat, they may set
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
    let first = path.split('.').next().unwrap_or(path);
    let is_misspelt = || suggest::nearest(path, survey.inputs.iter().copied()).is_some();
    if !survey.state.contains(&first) && (!is_embedded || is_misspelt()) {
        let help = suggest::help(path, survey.inputs.iter().copied());
        report.warning(value.at, format!("no input on this page has the id `{path}`"), help);
    }
}
