//! Values whose items are counted while they are gone through.

use super::meter::{Bounds, bounds, charge, is_spent, units};
use minijinja::Error;
use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Serde, Value as Known};
use serde_json::Value;
use std::sync::Arc;

/// A list or an object. Whatever goes through it (a loop, `in`, `==`, a filter, writing it) is charged for each item, and
/// fails once nothing is left. What it holds is counted in the same way.
#[derive(Debug)]
struct Counted(DynObject);

impl Object for Counted {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        self.0.repr()
    }

    fn get_value(self: &Arc<Self>, key: &Known) -> Option<Known> {
        self.0.get_value(key).map(hand_out)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Known> {
        self.0.get_value_by_str(key).map(hand_out)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let items = match self.0.enumerate() {
            Enumerator::NonEnumerable => return Enumerator::NonEnumerable,
            Enumerator::Empty => return Enumerator::Empty,
            Enumerator::Seq(length) => return Enumerator::Seq(length),
            _ if self.0.repr() == ObjectRepr::Map => {
                let Some(pairs) = self.0.try_iter_pairs() else { return Enumerator::NonEnumerable };
                return Enumerator::KeyValueIter(Box::new(pairs.map(|(key, value)| (hand_out(key), hand_out(value)))));
            }
            _ => self.0.try_iter(),
        };
        items.map_or(Enumerator::NonEnumerable, |items| Enumerator::Iter(Box::new(items.map(hand_out))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.0.enumerator_len()
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.0.is_true()
    }
}

/// The units of an item: those of its text, and one.
pub(super) fn cost(item: &Known) -> u64 {
    1 + item.as_str().map_or(0, units)
}

/// The item, once it is paid for. The first one that is not is an error, which ends what goes through the items.
fn hand_out(item: Known) -> Known {
    if is_spent() {
        return Known::UNDEFINED;
    }
    charge(cost(&item)).map_or_else(Known::from, |()| counted(item))
}

/// The value, counted if it has items.
pub(super) fn counted(value: Known) -> Known {
    match value.as_object() {
        Some(object) if has_items(object) && !is_counted(&value) && !value.is_tuple() => {
            Known::from_object(Counted(object.clone()))
        }
        _ => value,
    }
}

/// Whether going through the value's items is charged already.
pub(super) fn is_counted(value: &Known) -> bool {
    value.downcast_object_ref::<Counted>().is_some()
}

/// Whether an object is a list or a mapping, and no function.
pub(super) fn has_items(object: &DynObject) -> bool {
    object.repr() != ObjectRepr::Plain
}

/// A value as templates know it, and the bytes of its longest text.
///
/// # Errors
/// It is larger than the bounds that are set.
pub(super) fn known(value: &Value) -> Result<(Known, usize), Error> {
    let longest = measure(value, &bounds())?;
    Ok((counted(Serde(value).into()), longest))
}

/// Charges for each part of a value; the bytes of its longest text.
fn measure(value: &Value, bounds: &Bounds) -> Result<usize, Error> {
    charge(1)?;
    match value {
        Value::String(text) => measure_text(text, bounds),
        Value::Array(items) => items.iter().try_fold(0, |longest, item| Ok(measure(item, bounds)?.max(longest))),
        Value::Object(fields) => fields.iter().try_fold(0, |longest, (key, value)| {
            Ok(measure_text(key, bounds)?.max(measure(value, bounds)?).max(longest))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(0),
    }
}

fn measure_text(text: &str, bounds: &Bounds) -> Result<usize, Error> {
    charge(if text.len() > bounds.text { u64::MAX } else { units(text) })?;
    Ok(text.len())
}
