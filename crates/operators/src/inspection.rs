//! Inspection of values without evaluating them.

use crate::values::operator;
use crate::{ExpressionLanguage, Usage, definition};
use serde_json::Value;

/// Returns whether a value contains an operator.
pub fn is_dynamic(value: &Value) -> bool {
    contains(value, |_| true)
}

/// Returns whether a value contains an expression or a template, whose evaluation needs
/// [`Scope::expressions`](crate::Scope::expressions).
pub fn has_expressions(value: &Value) -> bool {
    contains(value, is_expression)
}

/// Returns whether an operator is an expression or a template. Within a function, their names begin
/// with two underscores or more.
fn is_expression(name: &str) -> bool {
    ExpressionLanguage::from_operator(name_outside_functions(name)).is_some()
}

/// Returns whether a value contains an operator outside of the base set, whose evaluation needs
/// [`Scope::operators`](crate::Scope::operators).
pub fn has_further_operators(value: &Value) -> bool {
    contains(value, |name| !BASE.contains(&name))
}

/// Returns whether the evaluation of a value may be expensive, so that it needs a budget. The work of
/// operators that read values is proportional to the size of the config and of the values.
pub fn is_costly(value: &Value) -> bool {
    contains(value, |name| {
        let is_computed =
            !BASE.contains(&name) && definition(name).is_none_or(|definition| definition.usage != Usage::Value);
        is_computed || is_expression(name)
    })
}

/// The operators that the evaluator knows without [`Scope::operators`](crate::Scope::operators).
pub(crate) const BASE: &[&str] = &["_state", "_step", "_url_query", "_event", "_if", "_eq", "_expr", "_template"];

/// Returns the name of an operator as it is written outside of functions: with one underscore.
pub fn name_outside_functions(name: &str) -> &str {
    let underscores = name.bytes().take_while(|byte| *byte == b'_').count();
    name.get(underscores.saturating_sub(1)..).unwrap_or(name)
}

fn contains(value: &Value, is_wanted: fn(&str) -> bool) -> bool {
    match value {
        Value::Object(object) => {
            operator(value).is_some_and(|(name, _)| is_wanted(name))
                || object.values().any(|value| contains(value, is_wanted))
        }
        Value::Array(items) => items.iter().any(|item| contains(item, is_wanted)),
        _ => false,
    }
}

/// Returns the names of all variables that `_secret` reads in a value.
pub fn secrets_used(value: &Value) -> Vec<String> {
    match (operator(value), value) {
        (Some(("_secret", Value::String(name))), _) => vec![name.clone()],
        (_, Value::Object(object)) => object.values().flat_map(secrets_used).collect(),
        (_, Value::Array(items)) => items.iter().flat_map(secrets_used).collect(),
        _ => Vec::new(),
    }
}
