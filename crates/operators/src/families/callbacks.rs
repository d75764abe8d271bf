//! Lists with a function that is called for each item. Its arguments are the item, the index and
//! the list; those of a reducer are preceded by the result so far.

use crate::evaluation::Evaluation;
use crate::function::Function;
use crate::parameters::Kind::{self, Any, List};
use crate::parameters::Parameters::Named;
use crate::parameters::{Parameter, optional, required};
use crate::registry::Run::Calling;
use crate::registry::{Definition, operator};
use crate::values::is_truthy;
use crate::{Arguments, OperatorError, meter};
use serde_json::Value;
use std::cmp::Ordering;

const CALLBACK: &[Parameter] = &[required("on", List), required("callback", Kind::Function)];
const REDUCER: &[Parameter] = &[CALLBACK[0], CALLBACK[1], optional("initialValue", Any)];
/// The maximum depth of the value that a reducer returns, because each call may nest it deeper.
const MAX_RESULT_DEPTH: usize = 64;

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_array.map", Named(CALLBACK), Calling(map), "The results of the function for each item.",
        [r#"{"on": [{"firstName": "Ted", "lastName": "Mosby"}, {"firstName": "Robin", "lastName": "Scherbatsky"}], "callback": {"_function": {"__string.concat": [{"__args": "0.firstName"}, " ", {"__args": "0.lastName"}]}}}"#
            => r#"["Ted Mosby","Robin Scherbatsky"]"#,
         r#"[["a", "b"], {"_function": {"at": {"__args": 1}, "of": {"_state": "name"}}}]"# => r#"[{"at":0,"of":"Ada"},{"at":1,"of":"Ada"}]"#,
         r#"[[[1, 2], [3]], {"_function": {"__array.map": [{"__args": 0}, {"__function": {"___sum": [{"___args": 0}, {"__array.length": {"__args": 0}}]}}]}}]"# => "[[3,4],[4]]"]),
    operator!("_array.filter", Named(CALLBACK), Calling(filter), "The items for which the function returns true.",
        [r#"[[1, 5, 10], {"_function": {"__gt": [{"__args": 0}, 4]}}]"# => "[5,10]"]),
    operator!("_array.find", Named(CALLBACK), Calling(find), "The first item for which the function returns true, otherwise `null`.",
        [r#"[[{"id": 1}, {"id": 2}], {"_function": {"__eq": [{"__args": "0.id"}, 2]}}]"# => r#"{"id":2}"#,
         r#"[[1], {"_function": false}]"# => "null"]),
    operator!("_array.findIndex", Named(CALLBACK), Calling(find_index), "The index of the first item for which the function returns true, otherwise `-1`.",
        [r#"[[1, 5, 10], {"_function": {"__gt": [{"__args": 0}, 4]}}]"# => "1", r#"[[1], {"_function": false}]"# => "-1"]),
    operator!("_array.every", Named(CALLBACK), Calling(every), "Whether the function returns true for all items.",
        [r#"[[5, 10], {"_function": {"__gt": [{"__args": 0}, 4]}}]"# => "true", r#"[[], {"_function": false}]"# => "true"]),
    operator!("_array.some", Named(CALLBACK), Calling(some), "Whether the function returns true for any item.",
        [r#"[[1, 10], {"_function": {"__gt": [{"__args": 0}, 4]}}]"# => "true", r#"[[], {"_function": true}]"# => "false"]),
    operator!("_array.reduce", Named(REDUCER), Calling(reduce), "The last result of the function, which gets its result for the items before and the item. Without `initialValue`, it begins with the first item.",
        [r#"{"on": [1, 2, 3, 4], "callback": {"_function": {"__sum": [{"__args": 0}, {"__args": 1}]}}}"# => "10",
         r#"{"on": [1, 2, 3, 4], "callback": {"_function": {"__sum": [{"__args": 0}, {"__args": 1}]}}, "initialValue": 10}"# => "20",
         r#"{"on": [1, 2, 3, 4], "callback": {"_function": {"__sum": [{"__args": 0}, {"__if": {"test": {"__eq": [{"__args": 2}, 2]}, "then": 100, "else": {"__args": 1}}}]}}}"# => "107"]),
    operator!("_array.reduceRight", Named(REDUCER), Calling(reduce_right), "Like `_array.reduce`, from the last item to the first.",
        [r#"[["a", "b", "c"], {"_function": {"__string.concat": [{"__args": 0}, {"__args": 1}]}}]"# => r#""cba""#]),
    operator!("_array.sortBy", Named(CALLBACK), Calling(sort_by), "The list sorted by the numbers or texts that the function returns for its items. Items with the same key keep their order.",
        [r#"[[{"n": 10}, {"n": 9}], {"_function": {"__args": "0.n"}}]"# => r#"[{"n":9},{"n":10}]"#,
         r#"[["b", "a"], {"_function": {"__args": 0}}]"# => r#"["a","b"]"#]),
];

/// The list of a call, and the function that is called for its items.
struct Calls {
    list: Value,
    function: Function,
}

impl Calls {
    fn new(arguments: &mut Arguments) -> Self {
        let list = Value::Array(arguments.list(0));
        Self { list, function: arguments.function(1).unwrap_or_default() }
    }

    fn items(&self) -> &[Value] {
        self.list.as_array().map_or(&[], Vec::as_slice)
    }

    fn into_items(self) -> Vec<Value> {
        if let Value::Array(items) = self.list { items } else { Vec::new() }
    }

    fn call(&self, evaluation: &mut Evaluation<'_>, index: usize, item: &Value) -> Result<Value, OperatorError> {
        evaluation.within("callback", |here| self.function.call(here, &[item, &Value::from(index), &self.list]))
    }

    /// Returns the index of the first item for which the function returns `wanted`.
    fn position(&self, evaluation: &mut Evaluation<'_>, wanted: bool) -> Result<Option<usize>, OperatorError> {
        for (index, item) in self.items().iter().enumerate() {
            if is_truthy(&self.call(evaluation, index, item)?) == wanted {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

fn map(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let calls = Calls::new(&mut arguments);
    calls.items().iter().enumerate().map(|(index, item)| calls.call(evaluation, index, item)).collect()
}

fn filter(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let calls = Calls::new(&mut arguments);
    let mut kept = Vec::new();
    for (index, item) in calls.items().iter().enumerate() {
        kept.push(is_truthy(&calls.call(evaluation, index, item)?));
    }
    Ok(calls.into_items().into_iter().zip(kept).filter_map(|(item, kept)| kept.then_some(item)).collect())
}

fn find(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let calls = Calls::new(&mut arguments);
    let found = calls.position(evaluation, true)?;
    Ok(found.and_then(|index| calls.into_items().into_iter().nth(index)).unwrap_or_default())
}

fn find_index(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let found = Calls::new(&mut arguments).position(evaluation, true)?;
    Ok(found.map_or(Value::from(-1), Value::from))
}

fn every(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    Calls::new(&mut arguments).position(evaluation, false).map(|found| found.is_none().into())
}

fn some(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    Calls::new(&mut arguments).position(evaluation, true).map(|found| found.is_some().into())
}

fn reduce(evaluation: &mut Evaluation<'_>, arguments: Arguments) -> Result<Value, OperatorError> {
    fold(evaluation, arguments, |length| Box::new(0..length))
}

fn reduce_right(evaluation: &mut Evaluation<'_>, arguments: Arguments) -> Result<Value, OperatorError> {
    fold(evaluation, arguments, |length| Box::new((0..length).rev()))
}

fn fold(
    evaluation: &mut Evaluation<'_>,
    mut arguments: Arguments,
    order: fn(usize) -> Box<dyn Iterator<Item = usize>>,
) -> Result<Value, OperatorError> {
    let initial = arguments.get(2).is_some().then(|| arguments.value(2));
    let calls = Calls::new(&mut arguments);
    let mut indexes = order(calls.items().len());
    let mut result = match initial {
        Some(initial) => initial,
        None => match indexes.next().and_then(|index| calls.items().get(index)) {
            Some(first) => evaluation.copy(Some(first))?,
            None => return Err(evaluation.error("an empty list needs an `initialValue`")),
        },
    };
    for index in indexes {
        let Some(item) = calls.items().get(index) else { continue };
        let arguments = [&result, item, &Value::from(index), &calls.list];
        result = evaluation.within("callback", |here| calls.function.call(here, &arguments))?;
        if is_deeper(&result, MAX_RESULT_DEPTH) {
            return Err(evaluation.error(format!("the result is nested deeper than {MAX_RESULT_DEPTH} levels")));
        }
    }
    Ok(result)
}

/// Returns whether a value is nested deeper than this number of levels.
fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(fields) => levels == 0 || fields.values().any(|value| is_deeper(value, levels - 1)),
        _ => false,
    }
}

fn sort_by(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let calls = Calls::new(&mut arguments);
    let mut keys = Vec::new();
    for (index, item) in calls.items().iter().enumerate() {
        keys.push(calls.call(evaluation, index, item)?);
    }
    let comparisons = u64::from(keys.len().max(1).ilog2());
    let cost = |key: &Value| 1 + key.as_str().map_or(0, meter::text_units);
    let total = keys.iter().map(cost).fold(0, u64::saturating_add).saturating_mul(comparisons);
    meter::charge(total).map_err(|exhausted| evaluation.error(exhausted))?;
    let mut keyed: Vec<_> = keys.into_iter().zip(calls.into_items()).collect();
    keyed.sort_by(|(left, _), (right, _)| compare_keys(left, right));
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

/// Orders keys: numbers, then texts, then all others.
fn compare_keys(left: &Value, right: &Value) -> Ordering {
    let rank = |key: &Value| match key {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        _ => 2,
    };
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left.as_f64().unwrap_or_default().total_cmp(&right.as_f64().unwrap_or_default())
        }
        (Value::String(left), Value::String(right)) => super::comparison::compare_texts(left, right),
        _ => rank(left).cmp(&rank(right)),
    }
}
