//! Values of a page that may be operators, which are evaluated when the page is rendered.

use super::operator::{self, EvaluationPlace, Side};
use crate::vocabulary::Vocabulary;
use config_source::{Node, Report, suggest};
use operators::Operators;
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
        let described =
            place(ValueContext::Action, Operators::standard()).names().into_iter().map(|name| (name, describe(name)));
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
        other => operators::definition(other).map_or("Computes a value.", |definition| definition.docs.summary),
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

/// The operators that read a value when a page is rendered.
const RENDERED: [&str; 4] = ["_state", "_url_query", "_expr", "_template"];
/// The operators that read a value in an action.
const IN_ACTIONS: [&str; 6] = ["_state", "_step", "_url_query", "_event", "_expr", "_template"];

/// Returns what is allowed in a context.
pub(super) fn place(context: ValueContext, operators: &Operators) -> EvaluationPlace<'_> {
    match context {
        ValueContext::Property => EvaluationPlace { operators, values: &RENDERED, side: Side::Both },
        ValueContext::Action => EvaluationPlace { operators, values: &IN_ACTIONS, side: Side::Browser },
    }
}

/// The names that operators in a value of a page may read.
#[derive(Clone, Copy, Default)]
pub(super) struct ReadableNames<'a, 'n> {
    /// The keys of the page state.
    pub(super) state: &'a [&'n str],
    /// The ids of earlier actions.
    pub(super) steps: &'a [&'n str],
    /// The fields of the event, if they are known.
    pub(super) event: Option<&'a [&'static str]>,
}

/// Checks the operators in a value of a page.
pub(super) fn check<'n>(
    value: &'n Node,
    context: ValueContext,
    names: ReadableNames<'_, 'n>,
    vocabulary: &Vocabulary,
    report: &mut Report,
) {
    let ReadableNames { state, steps, event } = names;
    operator::for_each_operator(value, place(context, vocabulary.operators()), report, &mut |operator, report| {
        let Some(path) = operator.value.text() else { return };
        let first = path.split('.').next().unwrap_or(path);
        match operator.key {
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
            "_event" => {
                if let Some(fields) = event {
                    operator::warn_of_unknown_key(operator, fields, "this event has no field", report);
                }
            }
            _ => {}
        }
    });
}
