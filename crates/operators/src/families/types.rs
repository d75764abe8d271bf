//! Tests of types, and access to parts of values.

use crate::date::milliseconds;
use crate::evaluation::Evaluation;
use crate::parameters::Kind::{Any, Key, Text};
use crate::parameters::Parameters::Named;
use crate::parameters::{optional, required};
use crate::registry::Run::Calling;
use crate::registry::{Definition, operator};
use crate::{Arguments, OperatorError};
use serde_json::Value;

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_get", Named(&[required("from", Any), required("key", Key), optional("default", Any)]), Calling(get),
        "The value at a key of a mapping or a list, otherwise `default`.",
        [r#"{"from": {"name": "George", "age": 22}, "key": "name"}"# => r#""George""#,
         r#"{"from": [{"id": 1, "name": "Joe"}], "key": "0.name"}"# => r#""Joe""#,
         r#"{"from": {"my_object": {"subfield": "Value"}}, "key": "my_object.subfield"}"# => r#""Value""#,
         r#"{"from": {"value1": 1}, "key": "value2", "default": 99}"# => "99",
         r#"{"from": null, "key": 0}"# => "null"]),
    operator!("_type", Named(&[required("type", Text), optional("on", Any), optional("key", Key)]), Calling(is_of_type),
        "Whether a value, or the key of the state, is a `string`, `array`, `object`, `boolean`, `number`, `integer`, `date`, `null`, `undefined`, `none` or `primitive`.",
        [r#"{"type": "number", "on": {"_state": "seats"}}"# => "true", r#"{"type": "string", "key": "name"}"# => "true",
         r#"{"type": "none", "on": null}"# => "true", r#"{"type": "integer", "on": 1.5}"# => "false",
         r#"{"type": "primitive", "on": []}"# => "false", r#"{"type": "date", "on": "2021-01-28"}"# => "true"]),
];

fn get(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let (from, key) = (arguments.value(0), arguments.value(1));
    let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
    match evaluation.look_up(Some(&from), &key)? {
        Value::Null => Ok(arguments.value(2)),
        found => Ok(found),
    }
}

fn is_of_type(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let name = arguments.text(0);
    let value = match arguments.get(2) {
        Some(key) => {
            let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            evaluation.look_up(evaluation.scope.state, &key)?
        }
        None => arguments.value(1),
    };
    let is_it = match name.as_str() {
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "date" => value.is_string() && milliseconds(&value).is_some(),
        "null" | "undefined" | "none" => value.is_null(),
        "primitive" => !value.is_array() && !value.is_object(),
        _ => return Err(evaluation.error("there is no such type; see `_type` in the documentation of operators")),
    };
    Ok(is_it.into())
}
