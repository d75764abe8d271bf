//! Values of a page that may be operators, which are evaluated when the page is rendered.

use super::operator;
use crate::shape::suggest;
use crate::source::{MapEntry, Node, Report};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A value of this type, or one of these operators.
pub(crate) use wire::page::schema::Or as Dynamic;

/// An operator in a page. The schema allows all operators everywhere; [`check`] knows where each is
/// allowed.
pub(crate) struct Operator;

impl JsonSchema for Operator {
    fn schema_name() -> Cow<'static, str> {
        "Operator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let described = allowed_operators(ValueContext::Action).into_iter().map(|name| (name, describe(name)));
        operator_schema("An operator, which is evaluated when the page is rendered.", described)
    }
}

/// Returns the schema of operators with their descriptions.
pub(super) fn operator_schema(what: &str, described: impl Iterator<Item = (&'static str, &'static str)>) -> Schema {
    let properties: Map<String, Value> =
        described.map(|(name, text)| (name.to_owned(), json!({ "description": text }))).collect();
    json_schema!({ "type": "object", "description": what, "properties": properties, "x-operator": true })
}

/// Returns an operator's description for editors.
fn describe(name: &str) -> &'static str {
    match name {
        "_state" => "A key of the page state, or `true` for all of it.",
        "_url_query" => "A query parameter of the page's address, or `true` for all of them.",
        "_event" => "A field of the event, or `true` for all fields. Only in actions.",
        "_step" => "The result of an earlier action, by its id. Only in actions.",
        "_if" => "`{ test, then, else }`.",
        "_eq" => "Whether the two values in a list are equal.",
        "_expr" => {
            "An expression over `state`, `url_query` and, in actions, `event` and `step`: `state.seats * 2 > 10`."
        }
        "_template" => "A template: `Hello {{ state.name }}` or `{% if state.plan %}…{% endif %}`.",
        _ => "Computes a value.",
    }
}

/// Where a value is used in a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// In the properties of a block.
    Property,
    /// In an action.
    Action,
}

/// Operators whose values exist only on the server or only in a routine.
const SERVER_OPERATORS: [&str; 6] = ["_secret", "_user", "_payload", "_shared_state", "_item", "_error"];
/// Operators whose values exist only in actions.
const ACTION_OPERATORS: [&str; 2] = ["_event", "_step"];

/// Returns the operators that are allowed in a context.
pub(super) fn allowed_operators(place: ValueContext) -> Vec<&'static str> {
    let fits = |name: &&str| {
        !SERVER_OPERATORS.contains(name) && (place == ValueContext::Action || !ACTION_OPERATORS.contains(name))
    };
    operators::operator_names().iter().copied().filter(fits).collect()
}

/// Checks the operators in a value of a page. `state` has the keys of the page state, `steps` the
/// ids of earlier actions.
pub(super) fn check<'n>(
    value: &'n Node,
    place: ValueContext,
    state: &[&'n str],
    steps: &[&'n str],
    report: &mut Report,
) {
    operator::for_each_operator(value, &allowed_operators(place), report, &mut |operator: &MapEntry, report| {
        let Some(path) = operator.value.text() else { return };
        let first = path.split('.').next().unwrap_or(path);
        match operator.key.as_str() {
            "_state" if !state.contains(&first) => {
                let help = suggest::help(first, state.iter().copied());
                report.warning(operator.value.at, format!("nothing on this page writes the state `{first}`"), help);
            }
            "_step" if !steps.contains(&first) => {
                let help = suggest::help(first, steps.iter().copied());
                let help =
                    help.or_else(|| Some("an action sees the results of those before it that have an id".to_owned()));
                report.error(operator.value.at, format!("no action before this one has the id `{first}`"), help);
            }
            _ => {}
        }
    });
}
