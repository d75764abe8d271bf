//! Conditions and logic. Only those parts are evaluated that the result depends on.

use crate::evaluation::Evaluation;
use crate::parameters::Kind::Any;
use crate::parameters::Parameters::{One, Own};
use crate::registry::Run::{Base, Lazy, Plain};
use crate::registry::{Definition, operator};
use crate::values::{is_truthy, operator as operator_of};
use crate::{Arguments, OperatorError};
use serde_json::Value;

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_if", Own, Base, "`then` if `test` is true, otherwise `else`.",
        [r#"{"test": {"_state": "name"}, "then": "known", "else": "unknown"}"# => r#""known""#]).keeps_secrets(),
    operator!("_switch", Own, Lazy(switch), "The `then` of the first branch whose `if` is true, otherwise `default`.",
        [r#"{"branches": [{"if": {"_eq": [1, 2]}, "then": "A"}, {"if": true, "then": "B"}], "default": "C"}"# => r#""B""#,
         r#"{"branches": [{"if": false, "then": "A"}], "default": "C"}"# => r#""C""#]).keeps_secrets(),
    operator!("_if_none", Own, Lazy(if_none), "The first of two values, or the second if the first is `null`.",
        [r#"["Value", "Replacement"]"# => r#""Value""#, r#"[null, "Replacement"]"# => r#""Replacement""#,
         r#"[false, 1]"# => "false"]).keeps_secrets(),
    operator!("_and", Own, Lazy(and), "Whether all values are true: not `false`, `0`, `null` or an empty text.",
        ["[true, true]" => "true", r#"["Hello", 42, [], {"key": "value"}]"# => "true", "[true, 0]" => "false",
         r#"[true, ""]"# => "false", "[]" => "true"]),
    operator!("_or", Own, Lazy(or), "Whether any of the values is true.",
        ["[false, true]" => "true", r#"[0, null, ""]"# => "false", "[]" => "false"]),
    operator!("_not", One(Any), Plain(not), "Whether a value is not true.",
        ["true" => "false", "0" => "true", r#""""# => "true"]),
    operator!("_boolean", One(Any), Plain(boolean), "Whether a value is true.",
        ["100" => "true", "null" => "false", r#""""# => "false"]),
];

fn items<'v>(evaluation: &Evaluation<'_>, argument: &'v Value) -> Result<&'v Vec<Value>, OperatorError> {
    argument.as_array().ok_or_else(|| evaluation.error("it takes a list of values"))
}

/// Evaluates the values until one is `wanted`. A list that is computed is evaluated as a whole.
fn any(evaluation: &mut Evaluation<'_>, argument: &Value, wanted: bool) -> Result<bool, OperatorError> {
    if operator_of(argument).is_some() {
        let computed = evaluation.evaluate(argument)?;
        return Ok(items(evaluation, &computed)?.iter().any(|value| is_truthy(value) == wanted));
    }
    for (index, value) in items(evaluation, argument)?.iter().enumerate() {
        if is_truthy(&evaluation.within(&index.to_string(), |here| here.evaluate(value))?) == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn and(evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
    any(evaluation, argument, false).map(|found| (!found).into())
}

fn or(evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
    any(evaluation, argument, true).map(Value::Bool)
}

fn not(mut arguments: Arguments) -> Result<Value, String> {
    Ok((!is_truthy(&arguments.value(0))).into())
}

fn boolean(mut arguments: Arguments) -> Result<Value, String> {
    Ok(is_truthy(&arguments.value(0)).into())
}

fn switch(evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
    let Some(branches) = argument.get("branches").and_then(Value::as_array) else {
        return Err(evaluation.error("it takes `branches`, a list of `{ if, then }`, and `default`"));
    };
    for branch in branches {
        let test = branch.get("if").map(|test| evaluation.within("if", |here| here.evaluate(test)));
        if is_truthy(&test.transpose()?.unwrap_or_default()) {
            return part(evaluation, branch, "then");
        }
    }
    part(evaluation, argument, "default")
}

fn part(evaluation: &mut Evaluation<'_>, of: &Value, key: &str) -> Result<Value, OperatorError> {
    of.get(key).map_or(Ok(Value::Null), |value| evaluation.within(key, |here| here.evaluate(value)))
}

fn if_none(evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
    let Some([value, replacement]) = argument.as_array().map(Vec::as_slice) else {
        return Err(evaluation.error("it takes a list of a value and its replacement"));
    };
    match evaluation.evaluate(value)? {
        Value::Null => evaluation.evaluate(replacement),
        value => Ok(value),
    }
}
