//! Functions: values with operators that another operator calls for each item of a list.
//!
//! In a function, operators that begin with one underscore are evaluated when the function is made,
//! those with two when it is called, and those of a function in a function with three.

use crate::evaluation::{Evaluation, MAX_DEPTH};
use crate::values::operator;
use crate::{OperatorError, meter};
use serde_json::{Map, Value};

/// The operator that reads a value which was evaluated when the function was made. Values are not
/// put into the body itself, where they would be evaluated as if they were config.
pub(crate) const CAPTURED: &str = "_captured";

/// A function that can be called.
#[derive(Debug, Default)]
pub(crate) struct Function {
    /// The body, with one underscore less at each operator that is evaluated by a call.
    body: Value,
    /// The values that were evaluated when the function was made.
    captured: Vec<Value>,
}

/// The values that the body of a function reads in one call.
pub(crate) struct Frame<'a> {
    arguments: &'a [&'a Value],
    captured: &'a [Value],
}

impl Function {
    /// Makes a function from the value of a parameter: `{ _function: body }`.
    pub(crate) fn prepare(evaluation: &mut Evaluation<'_>, value: &Value) -> Result<Self, OperatorError> {
        let Some(("_function", body)) = operator(value) else {
            return Err(evaluation.error("expected a function: `_function: …`"));
        };
        let mut captured = Vec::new();
        let body = evaluation.within("_function", |here| lift(here, body, &mut captured))?;
        Ok(Self { body, captured })
    }

    /// Calls the function with arguments, which `_args` reads.
    pub(crate) fn call(&self, evaluation: &mut Evaluation<'_>, arguments: &[&Value]) -> Result<Value, OperatorError> {
        let frame = Frame { arguments, captured: &self.captured };
        let mut inner = Evaluation {
            scope: evaluation.scope,
            frame: Some(&frame),
            path: std::mem::take(&mut evaluation.path),
            depth: evaluation.depth,
        };
        let result = inner.within("_function", |inner| inner.evaluate(&self.body));
        evaluation.path = inner.path;
        result
    }
}

/// Evaluates the operators with one underscore, and removes one underscore from the others.
fn lift(evaluation: &mut Evaluation<'_>, value: &Value, captured: &mut Vec<Value>) -> Result<Value, OperatorError> {
    if evaluation.depth > MAX_DEPTH {
        return Err(evaluation.error(format!("the value is nested deeper than {MAX_DEPTH} levels")));
    }
    meter::charge_node().map_err(|message| evaluation.error(message))?;
    evaluation.depth += 1;
    let lifted = match (operator(value), value) {
        (Some((name, argument)), _) => match name.strip_prefix('_').filter(|rest| rest.starts_with('_')) {
            Some(name) => {
                let argument = evaluation.within(name, |here| lift(here, argument, captured));
                argument.map(|argument| single(name, argument))
            }
            None => evaluation.evaluate(value).map(|value| {
                captured.push(value);
                single(CAPTURED, (captured.len() - 1).into())
            }),
        },
        (None, Value::Object(fields)) => {
            let lift_field = |(key, value): (&String, &Value)| {
                Ok((key.clone(), evaluation.within(key, |here| lift(here, value, captured))?))
            };
            fields.iter().map(lift_field).collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
        (None, Value::Array(items)) => items.iter().map(|item| lift(evaluation, item, captured)).collect(),
        (None, plain) => Ok(plain.clone()),
    };
    evaluation.depth -= 1;
    lifted
}

fn single(key: &str, value: Value) -> Value {
    Value::Object([(key.to_owned(), value)].into_iter().collect())
}

/// Reads a value that was evaluated when the function was made.
pub(crate) fn read_captured(evaluation: &Evaluation<'_>, index: &Value) -> Result<Value, OperatorError> {
    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
    evaluation.copy(evaluation.frame.zip(index).and_then(|(frame, index)| frame.captured.get(index)))
}

/// Evaluates `_args`: a key such as `0.name`, an index, `true` for all arguments, or `{ key, default }`.
pub(crate) fn read_arguments(evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
    let Some(frame) = evaluation.frame else {
        return Err(evaluation.error("`_args` has a value in a function only, as `__args`"));
    };
    if let Some(key) = argument.get("key") {
        let key = evaluation.evaluate(key)?;
        let found = argument_at(evaluation, frame, &key)?;
        return match argument.get("default").filter(|_| found.is_null()) {
            Some(default) => evaluation.evaluate(default),
            None => Ok(found),
        };
    }
    let is_all = |value: &Value| *value == Value::Bool(true);
    if is_all(argument) || argument.get("all").is_some_and(is_all) {
        return frame.arguments.iter().map(|value| evaluation.copy(Some(value))).collect();
    }
    argument_at(evaluation, frame, argument)
}

fn argument_at(evaluation: &Evaluation<'_>, frame: &Frame<'_>, key: &Value) -> Result<Value, OperatorError> {
    let key = match key {
        Value::String(key) => key.clone(),
        Value::Number(number) => number.to_string(),
        _ => {
            return Err(evaluation.error("`_args` takes a key such as `0.name`, an index, or `true` for all arguments"));
        }
    };
    let (first, rest) = key.split_once('.').map_or((key.as_str(), None), |(first, rest)| (first, Some(rest)));
    let found = first.parse::<usize>().ok().and_then(|index| frame.arguments.get(index).copied());
    match rest {
        Some(rest) => evaluation.look_up(found, rest),
        None => evaluation.copy(found),
    }
}
