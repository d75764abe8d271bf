//! Values, and operators as values.

use serde_json::Value;

/// Returns the name and the argument, if a value is an operator.
pub fn operator(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, argument) = object.iter().next()?;
    (name.starts_with('_') && !is_prototype_key(name)).then_some((name.as_str(), argument))
}

/// Returns whether a key refers to a prototype in JavaScript. Such keys are not allowed in state,
/// because a page could modify the prototype of all objects with them.
pub fn is_prototype_key(key: &str) -> bool {
    matches!(key, "__proto__" | "constructor" | "prototype")
}

/// Returns whether a value counts as true: not `null`, `false`, `0` or an empty string.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Returns whether two values are equal, with all that is in them. `1` and `1.0` are equal.
pub(crate) fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_same = |(key, left): (&String, &Value)| right.get(key).is_some_and(|right| is_equal(left, right));
            left.len() == right.len() && left.iter().all(is_same)
        }
        _ => left == right,
    }
}
