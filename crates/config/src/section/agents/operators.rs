//! Operators in an agent's properties. A property that holds one is left out when the config is
//! read. For each turn it is evaluated, and the agent is checked and read again with the value.

use super::entry::{AgentEntry, AgentProperties};
use crate::agent::DynamicProperty;
use crate::section::dynamic::operator_schema;
use crate::section::operator::{EvaluationPlace, Side};
use crate::section::{Context, operator};
use crate::shape::{check_value, deserialize};
use config_source::{Node, Report, Span};
use operators::{Operators, definition};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The operators that read a value for a turn.
const TURN_OPERATORS: [&str; 4] = ["_user", "_payload", "_expr", "_template"];
/// Those in options that are sent to the provider unchanged.
const REQUEST_OPERATORS: [&str; 5] = ["_user", "_payload", "_expr", "_template", "_secret"];

/// The keys that `_payload` reads in a turn.
const PAYLOAD_KEYS: [&str; 8] =
    ["agentId", "pageId", "userId", "conversationId", "inputs", "urlQuery", "sharedState", "switches"];

/// Returns what is allowed in the values of a property.
fn place<'a>(property: &str, operators: &'a Operators) -> EvaluationPlace<'a> {
    let values = if REQUEST_PROPERTIES.contains(&property) { &REQUEST_OPERATORS[..] } else { &TURN_OPERATORS };
    EvaluationPlace { operators, values, side: Side::Server }
}

/// An operator that is evaluated for each turn. The type only provides the schema.
pub(crate) struct TurnOperator;

impl JsonSchema for TurnOperator {
    fn schema_name() -> Cow<'static, str> {
        "TurnOperator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let describe = |name| match name {
            "_user" => "A field of the user, such as `id`, or `true` for all fields.",
            "_payload" => {
                "`agentId`, `pageId`, `userId`, `conversationId`, `inputs.…`, `urlQuery.…`, `sharedState.…` or `switches.…`, or `true` for all of them."
            }
            "_if" => "`{ test, then, else }`.",
            "_eq" => "Whether the two values in a list are equal.",
            "_expr" => "An expression over `user` and `payload`: `payload.sharedState.seats * 2 > 10`.",
            "_template" => "A template: `Hello {{ user.id }}` or `{% if payload.urlQuery.short %}…{% endif %}`.",
            "_secret" => "The value of an environment variable, in options that are sent to the provider unchanged.",
            other => definition(other).map_or("Computes a value.", |definition| definition.docs.summary),
        };
        let names = place(REQUEST_PROPERTIES[0], Operators::standard()).names().into_iter();
        operator_schema("An operator, which is evaluated for each turn.", names.map(|name| (name, describe(name))))
    }
}

/// Properties that limit a turn. Their operators must yield a value, because no value would mean no
/// limit.
const LIMIT_PROPERTIES: [&str; 3] = ["limits", "maxSteps", "timeout"];

/// Properties that are sent to the provider unchanged and may therefore hold secrets.
const REQUEST_PROPERTIES: [&str; 4] = ["providerOptions", "byok", "user", "tags"];

/// Properties that cannot hold operators, because they are used when the config is read: files are
/// opened and tools are checked then.
const STATIC_PROPERTIES: [&str; 6] = ["fileSystem", "askUser", "pageContext", "api", "repairToolCall", "generateTitle"];

/// Allows an operator in place of each property, each item of a list, and each key of a mapping
/// that is defined inline.
pub(crate) fn allow_operators(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        // The schema of instructions allows operators already.
        if !STATIC_PROPERTIES.contains(&name.as_str()) && name != "instructions" {
            settings::allow_operator(property, &TurnOperator::schema_name());
        }
    }
}

/// Reports operators that are not allowed where they are used, and secrets that are not set.
pub(crate) fn check(properties: &Node, context: &mut Context<'_, '_>) {
    let (env, operators) = (context.env, context.vocabulary.operators());
    for entry in properties.entries() {
        let name = entry.key.as_str();
        if STATIC_PROPERTIES.contains(&name) {
            continue;
        }
        if REQUEST_PROPERTIES.contains(&name) {
            warn_of_plain_templates(&entry.value, context.report);
        }
        operator::for_each_operator(&entry.value, place(name, operators), context.report, &mut |operator, report| {
            operator::check_secret(operator, env, "each request of this agent sends it", report);
            operator::check_known_keys(operator, report);
            if operator.key == "_payload" {
                operator::warn_of_unknown_key(operator, &PAYLOAD_KEYS, "the payload of a turn has no", report);
            }
        });
    }
}

/// Warns of texts that look like templates, which are sent to the provider as they are.
fn warn_of_plain_templates(value: &Node, report: &mut Report) {
    if value.text().is_some_and(|text| text.contains("{{")) {
        let help = "write `_template: \"…\"`, so that what is between the braces is evaluated".to_owned();
        report.warning(value.at, "this text is sent as it is", Some(help));
    }
    value.items().iter().for_each(|item| warn_of_plain_templates(item, report));
    // The arguments of operators are no texts that are sent.
    let fields = value.entries().iter().filter(|entry| !entry.key.starts_with('_'));
    fields.for_each(|entry| warn_of_plain_templates(&entry.value, report));
}

/// Removes the properties that hold operators from a checked agent. If `model` is one of them, an
/// empty name replaces it.
pub(crate) fn take_dynamic(agent: &mut Value, node: &Node, report: &Report) -> Vec<DynamicProperty> {
    let Some(properties) = agent.get_mut("properties").and_then(Value::as_object_mut) else { return Vec::new() };
    let is_later = |name: &str, value: &Value| name != "instructions" && operators::is_dynamic(value);
    let names: Vec<String> =
        properties.iter().filter(|(name, value)| is_later(name, value)).map(|(name, _)| name.clone()).collect();
    let later = names.into_iter().filter_map(|name| {
        let value = properties.remove(&name)?;
        let at = node.get(&name).map_or(node.at, |entry| entry.value.at);
        Some(DynamicProperty {
            may_hold_secrets: REQUEST_PROPERTIES.contains(&&*name),
            at: report.location(at),
            name,
            value,
        })
    });
    let later: Vec<_> = later.collect();
    properties.entry("model").or_insert_with(|| "".into());
    later
}

/// Returns the keys of an agent that decide how its properties are read, with the properties that
/// hold no operator.
pub(crate) fn static_entry(agent: &Value) -> Value {
    let kept = ["id", "type", "preset", "connectionId", "properties"];
    kept.into_iter().filter_map(|key| Some((key.to_owned(), agent.get(key)?.clone()))).collect::<Map<_, _>>().into()
}

/// Puts the values of the operators into an agent's entry.
///
/// # Errors
/// The first value that is not allowed, with the position of its operator in the config.
pub(crate) fn apply_values(mut known: Value, later: &[DynamicProperty], values: Vec<Value>) -> Result<Value, String> {
    let shape = AgentProperties::shape();
    for (property, value) in later.iter().zip(values) {
        let DynamicProperty { name, at, .. } = property;
        if LIMIT_PROPERTIES.contains(&name.as_str())
            && let Some(path) = missing_limit(&property.value, &value)
        {
            return Err(format!("{at}: the operator of `{name}{path}` has no value, so the limit cannot be enforced"));
        }
        // A property without a value counts as not set.
        if value.is_null() && name != "model" {
            continue;
        }
        let told = |problem: String| {
            format!("{at}: the operator of `{name}` has a value that cannot be used there: {problem}")
        };
        let mut report = Report::default();
        let node = Node::from_value(&value, Span::default());
        let checked = shape.property(name).and_then(|shape| check_value(&node, shape, &mut report));
        let checked = checked.filter(|value| !operators::is_dynamic(value) || property.may_hold_secrets);
        known["properties"][name] = checked.ok_or_else(|| told(first_problem(report)))?;
    }
    Ok(known)
}

/// Reads an agent's entry that has been checked.
///
/// # Errors
/// The values do not fit together.
pub(crate) fn read_entry(entry: Value) -> Result<AgentEntry, String> {
    let mut report = Report::default();
    deserialize(entry, Span::default(), &mut report).ok_or_else(|| first_problem(report))
}

/// Returns the path of the first operator in a limit that yielded no value.
fn missing_limit(written: &Value, came_to: &Value) -> Option<String> {
    if operators::operator(written).is_some() {
        return came_to.is_null().then(String::new);
    }
    let (Value::Object(written), Value::Object(came_to)) = (written, came_to) else { return None };
    written.iter().find_map(|(key, value)| {
        let path = missing_limit(value, came_to.get(key).unwrap_or(&Value::Null))?;
        Some(format!(".{key}{path}"))
    })
}

pub(crate) fn first_problem(report: Report) -> String {
    let problem = report.into_diagnostics().into_iter().next();
    problem.map_or_else(|| "an operator in an operator".to_owned(), |problem| problem.message)
}
