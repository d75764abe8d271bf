//! Comparison of two values.

use crate::Arguments;
use crate::parameters::Kind::Any;
use crate::parameters::Parameters::{Own, Pair};
use crate::registry::Run::{Base, Plain};
use crate::registry::{Definition, operator};
use crate::values::is_equal;
use serde_json::Value;
use std::cmp::Ordering;

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_eq", Own, Base, "Whether two values are equal, with everything in them.",
        [r#"["Hello", "Hello"]"# => "true", r#"[{"_sum": [3, 4]}, 8]"# => "false", "[[1, 2], [1, 2]]" => "true"]),
    operator!("_ne", Pair(Any), Plain(not_equal), "Whether two values are not equal.",
        [r#"["Hello", "Hello"]"# => "false", r#"[1, "1"]"# => "true"]),
    operator!("_gt", Pair(Any), Plain(greater), "Whether the first value is greater: two texts by their characters, other values as numbers.",
        ["[4, 3]" => "true", "[1, 1]" => "false", r#"["a", "b"]"# => "false", r#"["10", 9]"# => "true", r#"["x", 1]"# => "false"]),
    operator!("_gte", Pair(Any), Plain(greater_or_equal), "Whether the first value is greater, or equal.",
        ["[1, 1]" => "true", r#"["2024-05-01", "2024-04-30"]"# => "true"]),
    operator!("_lt", Pair(Any), Plain(less), "Whether the first value is less.",
        ["[3, 4]" => "true", r#"["a", "b"]"# => "true", "[null, 1]" => "true"]),
    operator!("_lte", Pair(Any), Plain(less_or_equal), "Whether the first value is less, or equal.",
        ["[1, 1]" => "true", "[2, 1]" => "false"]),
];

fn not_equal(mut arguments: Arguments) -> Result<Value, String> {
    Ok((!is_equal(&arguments.value(0), &arguments.value(1))).into())
}

fn greater(arguments: Arguments) -> Result<Value, String> {
    Ok((compare(arguments) == Some(Ordering::Greater)).into())
}

fn greater_or_equal(arguments: Arguments) -> Result<Value, String> {
    Ok(compare(arguments).is_some_and(Ordering::is_ge).into())
}

fn less(arguments: Arguments) -> Result<Value, String> {
    Ok((compare(arguments) == Some(Ordering::Less)).into())
}

fn less_or_equal(arguments: Arguments) -> Result<Value, String> {
    Ok(compare(arguments).is_some_and(Ordering::is_le).into())
}

/// Compares two texts by their code units, other values as numbers, as JavaScript does.
fn compare(mut arguments: Arguments) -> Option<Ordering> {
    match (arguments.value(0), arguments.value(1)) {
        (Value::String(left), Value::String(right)) => Some(compare_texts(&left, &right)),
        (left, right) => as_number(&left)?.partial_cmp(&as_number(&right)?),
    }
}

/// Compares two texts by their UTF-16 code units.
pub(super) fn compare_texts(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(0.0),
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text.trim().is_empty() => Some(0.0),
        Value::String(text) => text.trim().parse().ok(),
        Value::Array(_) | Value::Object(_) => None,
    }
}
