//! Values that charge for each item that is read.

use crate::meter::{EvaluationLimits, charge, current_limits, is_exhausted, text_units};
use minijinja::Error;
use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Serde, Value as EngineValue};
use serde_json::Value;
use std::sync::Arc;

/// A metered list or object. Any iteration over it (a loop, `in`, `==`, a filter, formatting) is
/// charged for each item, and fails when the budget is used up. Its items are metered as well.
#[derive(Debug)]
struct MeteredObject(DynObject);

impl Object for MeteredObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        self.0.repr()
    }

    fn get_value(self: &Arc<Self>, key: &EngineValue) -> Option<EngineValue> {
        self.0.get_value(key).map(charge_item)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<EngineValue> {
        self.0.get_value_by_str(key).map(charge_item)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let items = match self.0.enumerate() {
            Enumerator::NonEnumerable => return Enumerator::NonEnumerable,
            Enumerator::Empty => return Enumerator::Empty,
            Enumerator::Seq(length) => return Enumerator::Seq(length),
            _ if self.0.repr() == ObjectRepr::Map => {
                let Some(pairs) = self.0.try_iter_pairs() else { return Enumerator::NonEnumerable };
                return Enumerator::KeyValueIter(Box::new(
                    pairs.map(|(key, value)| (charge_item(key), charge_item(value))),
                ));
            }
            _ => self.0.try_iter(),
        };
        items.map_or(Enumerator::NonEnumerable, |items| Enumerator::Iter(Box::new(items.map(charge_item))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.0.enumerator_len()
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.0.is_true()
    }
}

/// Returns the units of an item: one, and those of its text.
pub(super) fn item_cost(item: &EngineValue) -> u64 {
    1 + item.as_str().map_or(0, text_units)
}

/// Charges for an item and returns it. The first item over the budget is an error value, which ends
/// the iteration.
fn charge_item(item: EngineValue) -> EngineValue {
    if is_exhausted() {
        return EngineValue::UNDEFINED;
    }
    charge(item_cost(&item)).map_or_else(|exhausted| EngineValue::from(Error::from(exhausted)), |()| metered(item))
}

/// Meters a value if it has items.
pub(super) fn metered(value: EngineValue) -> EngineValue {
    match value.as_object() {
        Some(object) if has_items(object) && !is_metered(&value) && !value.is_tuple() => {
            EngineValue::from_object(MeteredObject(object.clone()))
        }
        _ => value,
    }
}

/// Returns whether iterating over the value is charged already.
pub(super) fn is_metered(value: &EngineValue) -> bool {
    value.downcast_object_ref::<MeteredObject>().is_some()
}

/// Returns whether an object is a list or a mapping, as opposed to a function.
pub(super) fn has_items(object: &DynObject) -> bool {
    object.repr() != ObjectRepr::Plain
}

/// Converts a value for the engine, and returns the bytes of its longest text.
///
/// # Errors
/// The value exceeds the current limits.
pub(super) fn metered_variable(value: &Value) -> Result<(EngineValue, usize), Error> {
    let longest = charge_value(value, &current_limits())?;
    Ok((metered(Serde(value).into()), longest))
}

/// Charges for each part of a value and returns the bytes of its longest text.
fn charge_value(value: &Value, limits: &EvaluationLimits) -> Result<usize, Error> {
    charge(1)?;
    match value {
        Value::String(text) => charge_text(text, limits),
        Value::Array(items) => items.iter().try_fold(0, |longest, item| Ok(charge_value(item, limits)?.max(longest))),
        Value::Object(fields) => fields.iter().try_fold(0, |longest, (key, value)| {
            Ok(charge_text(key, limits)?.max(charge_value(value, limits)?).max(longest))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(0),
    }
}

fn charge_text(text: &str, limits: &EvaluationLimits) -> Result<usize, Error> {
    charge(if text.len() > limits.text { u64::MAX } else { text_units(text) })?;
    Ok(text.len())
}
