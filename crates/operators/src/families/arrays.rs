//! Lists.

use super::comparison::compare_texts;
use super::text::{clamp, joined, slice_range, text};
use crate::parameters::Kind::{Any, Integer, List, Text};
use crate::parameters::Parameters::{Named, One, Values};
use crate::parameters::{Parameter, optional, required};
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use crate::values::is_equal;
use crate::{Arguments, meter};
use serde_json::Value;

const ON: Parameter = required("on", List);
const VALUE: Parameter = required("value", Any);
const RANGE: [Parameter; 2] = [optional("start", Integer), optional("end", Integer)];

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_array.concat", Values(List), Plain(concat), "The items of several lists in one list.",
        ["[[1, 2], [3], []]" => "[1,2,3]"])
    .keeps_secrets(),
    operator!("_array.copyWithin", Named(&[ON, required("target", Integer), RANGE[0], RANGE[1]]), Plain(copy_within),
        "The list with the items from `start` to `end` copied to `target`; its length does not change.",
        ["[[1, 2, 3, 4, 5], 0, 3]" => "[4,5,3,4,5]"]),
    operator!("_array.fill", Named(&[ON, VALUE, RANGE[0], RANGE[1]]), Plain(fill),
        "The list with `value` in place of the items from `start` to `end`.", ["[[1, 2, 3], 0, 1]" => "[1,0,0]"]),
    operator!("_array.flat", Named(&[ON, optional("depth", Integer)]), Plain(flat),
        "The list with the items of the lists in it, down to `depth`. Default: 1.",
        [r#"{"on": [1, [2, [3]]]}"# => "[1,2,[3]]", r#"{"on": [1, [2, [3]]], "depth": 2}"# => "[1,2,3]"]),
    operator!("_array.includes", Named(&[ON, VALUE]), Plain(includes), "Whether the list has an item that equals `value`.",
        [r#"{"on": ["a", "b"], "value": "b"}"# => "true", "[[1, 2], 3]" => "false"]),
    operator!("_array.indexOf", Named(&[ON, VALUE]), Plain(index_of), "The index of the first item that equals `value`, otherwise `-1`.",
        ["[[1, 2, 1], 1]" => "0", "[[1, 2], 3]" => "-1"]),
    operator!("_array.join", Named(&[ON, optional("separator", Text)]), Plain(join),
        "A text of all items with `separator` between them. Default: a comma.",
        [r#"{"on": ["a", "b", 1]}"# => r#""a,b,1""#, r#"[["a", "b"], " and "]"# => r#""a and b""#, r#"{"on": ["a"], "separator": "-"}"# => r#""a""#]),
    operator!("_array.lastIndexOf", Named(&[ON, VALUE]), Plain(last_index_of), "The index of the last item that equals `value`, otherwise `-1`.",
        ["[[1, 2, 1], 1]" => "2"]),
    operator!("_array.length", One(List), Plain(length), "The number of items.", ["[5, 6, 7]" => "3", "null" => "0"]),
    operator!("_array.reverse", One(List), Plain(reverse), "The list in reverse order.", ["[1, 2, 3]" => "[3,2,1]"]),
    operator!("_array.slice", Named(&[ON, RANGE[0], RANGE[1]]), Plain(slice),
        "The items from `start` up to, but not including, `end`. Negative positions count from the end.",
        [r#"{"on": [1, 2, 3, 4], "start": 1, "end": 3}"# => "[2,3]", "[[1, 2, 3], -2]" => "[2,3]"]),
    operator!("_array.sort", Named(&[ON]), Plain(sort), "The list sorted by the items as texts. `_array.sortBy` takes a function.",
        [r#"{"on": ["b", "c", "a"]}"# => r#"["a","b","c"]"#, r#"{"on": [10, 9, 1]}"# => "[1,10,9]"]),
    operator!("_array.splice", Named(&[ON, required("start", Integer), optional("deleteCount", Integer), optional("insert", List)]), Plain(splice),
        "The list without `deleteCount` items from `start` on (all, if it is left out), and with the items of `insert` in their place.",
        [r#"{"on": [1, 2, 3, 4], "start": 1, "deleteCount": 2, "insert": ["x"]}"# => r#"[1,"x",4]"#, "[[1, 2, 3], -1]" => "[1,2]"]),
];

/// Returns `-1` for no position.
fn position(found: Option<usize>) -> Value {
    found.map_or(Value::from(-1), Value::from)
}

fn concat(mut arguments: Arguments) -> Result<Value, String> {
    let mut all = Vec::new();
    let mut index = 0;
    while arguments.get(index).is_some() {
        all.append(&mut arguments.list(index));
        index += 1;
    }
    Ok(all.into())
}

fn copy_within(mut arguments: Arguments) -> Result<Value, String> {
    let (target, start, end) = (arguments.number(1), arguments.number(2), arguments.number(3));
    let mut list = arguments.list(0);
    let length = list.len();
    let (start, end) = slice_range(length, start, end);
    let (target, _) = slice_range(length, target, None);
    let count = (end - start).min(length - target);
    let copied = list.get(start..start + count).unwrap_or_default().to_vec();
    charge_all(&copied)?;
    list.splice(target..target + count, copied);
    Ok(list.into())
}

fn fill(mut arguments: Arguments) -> Result<Value, String> {
    let (start, end) = (arguments.number(2), arguments.number(3));
    let (mut list, value) = (arguments.list(0), arguments.value(1));
    let (start, end) = slice_range(list.len(), start, end);
    for item in list.iter_mut().take(end).skip(start) {
        meter::charge_value(&value)?;
        *item = value.clone();
    }
    Ok(list.into())
}

fn flat(mut arguments: Arguments) -> Result<Value, String> {
    let depth = arguments.number(1).unwrap_or(1.0);
    let mut flat = Vec::new();
    flatten(arguments.list(0), depth, &mut flat);
    Ok(flat.into())
}

fn flatten(list: Vec<Value>, depth: f64, into: &mut Vec<Value>) {
    for item in list {
        match item {
            Value::Array(inner) if depth >= 1.0 => flatten(inner, depth - 1.0, into),
            other => into.push(other),
        }
    }
}

fn includes(mut arguments: Arguments) -> Result<Value, String> {
    let value = arguments.value(1);
    Ok(arguments.list(0).iter().any(|item| is_equal(item, &value)).into())
}

fn index_of(mut arguments: Arguments) -> Result<Value, String> {
    let value = arguments.value(1);
    Ok(position(arguments.list(0).iter().position(|item| is_equal(item, &value))))
}

fn last_index_of(mut arguments: Arguments) -> Result<Value, String> {
    let value = arguments.value(1);
    Ok(position(arguments.list(0).iter().rposition(|item| is_equal(item, &value))))
}

fn join(mut arguments: Arguments) -> Result<Value, String> {
    let separator = if arguments.get(1).is_some() { arguments.text(1) } else { ",".to_owned() };
    joined(arguments.list(0).iter().map(text), &separator)
}

fn length(mut arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.list(0).len().into())
}

fn reverse(mut arguments: Arguments) -> Result<Value, String> {
    let mut list = arguments.list(0);
    list.reverse();
    Ok(list.into())
}

fn slice(mut arguments: Arguments) -> Result<Value, String> {
    let (start, end) = (arguments.number(1), arguments.number(2));
    let mut list = arguments.list(0);
    let (start, end) = slice_range(list.len(), start, end);
    Ok(list.drain(start..end).collect())
}

fn sort(mut arguments: Arguments) -> Result<Value, String> {
    let mut keyed: Vec<_> = arguments.list(0).into_iter().map(|item| (sort_key(&item), item)).collect();
    let comparisons = keyed.len().max(1).ilog2();
    for (key, _) in &keyed {
        meter::charge((1 + meter::text_units(key)).saturating_mul(u64::from(comparisons)))?;
    }
    keyed.sort_by(|(left, _), (right, _)| compare_texts(left, right));
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

fn sort_key(item: &Value) -> String {
    if item.is_null() { "null".to_owned() } else { text(item).into_owned() }
}

fn splice(mut arguments: Arguments) -> Result<Value, String> {
    let (start, count) = (arguments.number(1), arguments.number(2));
    let (mut list, insert) = (arguments.list(0), arguments.list(3));
    let (start, _) = slice_range(list.len(), start, None);
    let rest = list.len() - start;
    list.splice(start..start + count.map_or(rest, |count| clamp(count, rest)), insert);
    Ok(list.into())
}

fn charge_all(items: &[Value]) -> Result<(), String> {
    items.iter().try_for_each(meter::charge_value)?;
    Ok(())
}
