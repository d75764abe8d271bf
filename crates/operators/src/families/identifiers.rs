//! Identifiers and random values, from the source of randomness of the scope.

use super::text::number;
use crate::evaluation::Evaluation;
use crate::parameters::Kind::Any;
use crate::parameters::Parameters::{Nothing, NothingOr, One};
use crate::registry::Run::Calling;
use crate::registry::{Definition, operator};
use crate::{Ambient, Arguments, OperatorError, meter};
use serde_json::Value;
use uuid::Builder;

/// The longest random text.
const MAX_LENGTH: u64 = 1_000;
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_uuid", NothingOr("v4"), Calling(uuid), "A random UUID (version 4).", [r#""v4""# => r#""80000000-0000-4000-8000-000000000000""#]).not_rendered(),
    operator!("_uuid.v4", Nothing, Calling(uuid), "A random UUID (version 4).", ["null" => r#""80000000-0000-4000-8000-000000000000""#]).not_rendered(),
    operator!("_random", One(Any), Calling(random), "A random `string`, `integer` or `float`, or `{ type, length, min, max }` of it. Not for secrets.",
        [r#""integer""# => "50", r#"{"type": "string", "length": 4}"# => r#""iiii""#, r#"{"type": "float", "min": 1, "max": 3}"# => "2"]).not_rendered(),
];

fn ambient<'a>(evaluation: &Evaluation<'a>) -> Result<&'a dyn Ambient, OperatorError> {
    evaluation.scope.ambient.ok_or_else(|| evaluation.error("there is no clock and no randomness here"))
}

/// Returns the time in milliseconds since 1970 UTC.
pub(super) fn now(evaluation: &Evaluation<'_>) -> Result<i64, OperatorError> {
    Ok(ambient(evaluation)?.unix_ms())
}

/// Returns a random number from 0 to less than 1.
pub(super) fn random_fraction(evaluation: &Evaluation<'_>) -> Result<f64, OperatorError> {
    // The 53 bits that a number has.
    Ok((ambient(evaluation)?.random() >> 11) as f64 / (1_u64 << 53) as f64)
}

fn uuid(evaluation: &mut Evaluation<'_>, _: Arguments) -> Result<Value, OperatorError> {
    let ambient = ambient(evaluation)?;
    let bytes = u128::from(ambient.random()) << 64 | u128::from(ambient.random());
    Ok(Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid().to_string().into())
}

fn random(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let argument = arguments.value(0);
    let name = argument.as_str().or_else(|| argument.get("type")?.as_str()).unwrap_or_default();
    let bound = |key: &str, default: f64| argument.get(key).and_then(Value::as_f64).unwrap_or(default);
    let fraction = random_fraction(evaluation)?;
    match name {
        "string" => text(evaluation, argument.get("length").and_then(Value::as_u64).unwrap_or(8)),
        "integer" => {
            let (least, most) = (libm::ceil(bound("min", 0.0)), libm::floor(bound("max", 100.0)));
            Ok(number(least + libm::floor(fraction * (most - least + 1.0).max(1.0))))
        }
        "float" => {
            let least = bound("min", 0.0);
            Ok(number(fraction.mul_add(bound("max", 1.0) - least, least)))
        }
        _ => Err(evaluation.error("the types are `string`, `integer` and `float`")),
    }
}

fn text(evaluation: &Evaluation<'_>, length: u64) -> Result<Value, OperatorError> {
    if length > MAX_LENGTH {
        return Err(evaluation.error(format!("a random text has at most {MAX_LENGTH} characters")));
    }
    meter::charge(length).map_err(|exhausted| evaluation.error(exhausted))?;
    let mut text = String::new();
    for _ in 0..length {
        let index = (random_fraction(evaluation)? * LETTERS.len() as f64) as usize;
        text.push(char::from(LETTERS.get(index).copied().unwrap_or(b'0')));
    }
    Ok(text.into())
}
