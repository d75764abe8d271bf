//! Operators in an agent's properties. A property that holds one is left out when the config is read; for each turn it is evaluated,
//! put among the others, and all are checked and read as if that had been written.

use super::agent_entry::{AgentEntry, AgentProperties};
use super::dynamic::schema_of;
use super::{Context, operator};
use crate::agent::LaterProperty;
use crate::shape::{Shape, check_value, read};
use crate::source::{Entry, Node, Report, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What can be known of a turn: who asks, where, and with what.
const OF_TURNS: [&str; 6] = ["_user", "_payload", "_if", "_eq", "_expr", "_template"];

/// An operator that is evaluated for each turn. Only its schema is used.
pub(crate) struct TurnOperator;

impl JsonSchema for TurnOperator {
    fn schema_name() -> Cow<'static, str> {
        "TurnOperator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let describe = |name| match name {
            "_user" => "What is known of who asks, by its key, such as `id`, or `true` for all of it.",
            "_payload" => {
                "`agentId`, `pageId`, `userId`, `conversationId`, `urlQuery.…` or `sharedState.…`, or `true` for all of them."
            }
            "_if" => "`{ test, then, else }`.",
            "_eq" => "Whether the two values of a list are equal.",
            "_expr" => "An expression over `user` and `payload`: `payload.sharedState.seats * 2 > 10`.",
            "_template" => "A text with `{{ user.id }}` and `{% if payload.urlQuery.short %}…{% endif %}` in it.",
            _ => "The value of a variable of the environment, in what goes to the model's provider as it is.",
        };
        let names = OF_TURNS.into_iter().chain(["_secret"]);
        schema_of("An operator, evaluated for each turn.", names.map(|name| (name, describe(name))))
    }
}

/// Bounds of a turn: an operator in one must come to a value, since nothing would be no bound.
const BOUNDS: [&str; 3] = ["limits", "maxSteps", "timeout"];

/// Properties that go to the model's provider as they are; secrets may stand there.
const OF_REQUESTS: [&str; 4] = ["providerOptions", "byok", "user", "tags"];

/// What an agent is made of: files are opened and tools checked with the config, not for each turn.
const SETTLED: [&str; 5] = ["fileSystem", "askUser", "pageContext", "api", "repairToolCall"];

/// Lets an operator stand in the place of each property, of each item of a list, and of each key of a mapping that is written out there.
pub(super) fn allow(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        // Instructions say it themselves.
        if !SETTLED.contains(&name.as_str()) && name != "instructions" {
            allow_in(property);
        }
    }
}

fn allow_in(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    keywords.get_mut("items").into_iter().for_each(allow_in);
    let kept = ["description", "default"].map(|keyword| keywords.remove_entry(keyword));
    let own = std::mem::take(keywords);
    keywords.extend(kept.into_iter().flatten());
    keywords.insert("anyOf".to_owned(), json!([own, { "$ref": "#/$defs/TurnOperator" }]));
}

/// Reports operators that mean nothing where they stand, and secrets that are not set.
pub(super) fn check(properties: &Node, context: &mut Context<'_, '_>) {
    let env = context.env;
    let of_requests: Vec<_> = OF_TURNS.into_iter().chain(["_secret"]).collect();
    for entry in properties.entries() {
        let name = entry.key.as_str();
        let allowed = if OF_REQUESTS.contains(&name) { &of_requests[..] } else { &OF_TURNS };
        if SETTLED.contains(&name) {
            continue;
        }
        operator::each(&entry.value, allowed, context.report, &mut |operator: &Entry, report| {
            operator::check_secret(operator, env, "each request of this agent sends it", report);
        });
    }
}

/// Takes the properties that hold operators out of a checked agent. A model that is one of them leaves an empty name.
pub(super) fn take(agent: &mut Value, node: &Node, report: &Report) -> Vec<LaterProperty> {
    let Some(properties) = agent.get_mut("properties").and_then(Value::as_object_mut) else { return Vec::new() };
    let is_later = |name: &str, value: &Value| name != "instructions" && operators::is_dynamic(value);
    let names: Vec<String> =
        properties.iter().filter(|(name, value)| is_later(name, value)).map(|(name, _)| name.clone()).collect();
    let later = names.into_iter().filter_map(|name| {
        let value = properties.remove(&name)?;
        let at = node.get(&name).map_or(node.at, |entry| entry.value.at);
        Some(LaterProperty { may_hold_secrets: OF_REQUESTS.contains(&&*name), at: report.location(at), name, value })
    });
    let later: Vec<_> = later.collect();
    properties.entry("model").or_insert_with(|| "".into());
    later
}

/// What of an agent decides how its properties are read, with those that hold no operator.
pub(super) fn known(agent: &Value) -> Value {
    let kept = ["id", "type", "preset", "connectionId", "properties"];
    kept.into_iter().filter_map(|key| Some((key.to_owned(), agent.get(key)?.clone()))).collect::<Map<_, _>>().into()
}

/// The agent's entry with what its other properties came to.
///
/// # Errors
/// The first value that cannot stand there, with its place in the config.
pub(super) fn settle(mut known: Value, later: &[LaterProperty], values: Vec<Value>) -> Result<AgentEntry, String> {
    let shape = Shape::of::<AgentProperties>();
    for (property, value) in later.iter().zip(values) {
        let LaterProperty { name, at, .. } = property;
        if BOUNDS.contains(&name.as_str())
            && let Some(path) = missing_bound(&property.value, &value)
        {
            return Err(format!("{at}: the operator of `{name}{path}` came to nothing, so the bound cannot be kept"));
        }
        // What comes to nothing was not set.
        if value.is_null() && name != "model" {
            continue;
        }
        let told =
            |problem: String| format!("{at}: the operator of `{name}` came to what cannot stand there: {problem}");
        let mut report = Report::default();
        let node = Node::from_value(&value, Span::default());
        let checked = shape.and_then(|shape| check_value(&node, shape.property(name)?, &mut report));
        let checked = checked.filter(|value| !operators::is_dynamic(value) || property.may_hold_secrets);
        known["properties"][name] = checked.ok_or_else(|| told(first_problem(report)))?;
    }
    let mut report = Report::default();
    read(known, Span::default(), &mut report).ok_or_else(|| first_problem(report))
}

/// The path of the first operator in a bound that came to nothing.
fn missing_bound(written: &Value, came_to: &Value) -> Option<String> {
    if operators::operator(written).is_some() {
        return came_to.is_null().then(String::new);
    }
    let (Value::Object(written), Value::Object(came_to)) = (written, came_to) else { return None };
    written.iter().find_map(|(key, value)| {
        let path = missing_bound(value, came_to.get(key).unwrap_or(&Value::Null))?;
        Some(format!(".{key}{path}"))
    })
}

fn first_problem(report: Report) -> String {
    let problem = report.into_diagnostics().into_iter().next();
    problem.map_or_else(|| "an operator in an operator".to_owned(), |problem| problem.message)
}
