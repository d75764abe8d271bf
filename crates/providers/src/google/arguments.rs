//! Arguments that stream as values with their places (`$.list[0].name`), put together.

use super::api::PartialArgument;
use serde_json::{Map, Value};

/// The longest list; a place beyond it is nonsense.
const MAX_ITEMS: usize = 1_000;
/// The deepest place.
const MAX_DEPTH: usize = 32;

/// A step to a place.
#[derive(Debug, PartialEq)]
enum Step {
    Field(String),
    Item(usize),
}

/// Puts a piece in its place; a text that is there already grows. A place that cannot be read is passed over.
pub(crate) fn put(arguments: &mut Value, piece: PartialArgument) {
    let Some(steps) = piece.json_path.as_deref().and_then(steps) else { return };
    let place = steps.into_iter().fold(arguments, go);
    match (piece.string_value, place) {
        (Some(more), Value::String(text)) => text.push_str(&more),
        (Some(text), place) => *place = text.into(),
        (None, place) => *place = piece.number_value.or(piece.bool_value.map(Value::Bool)).unwrap_or(Value::Null),
    }
}

/// The value at a step, made if it is not there.
fn go(value: &mut Value, step: Step) -> &mut Value {
    match step {
        Step::Field(name) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            &mut value[name]
        }
        Step::Item(index) => {
            if !value.is_array() {
                *value = Value::Array(Vec::new());
            }
            if let Value::Array(items) = value
                && items.len() <= index
            {
                items.resize(index + 1, Value::Null);
            }
            &mut value[index]
        }
    }
}

/// `$.a[0]["b"]` as its steps; none for anything else.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        (step, rest) = match rest.strip_prefix('.') {
            Some(field) => {
                let end = field.find(['.', '[']).unwrap_or(field.len());
                (Step::Field(field[..end].to_owned()), &field[end..])
            }
            None => bracket(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
        if steps.len() > MAX_DEPTH {
            return None;
        }
    }
    Some(steps)
}

fn bracket(text: &str) -> Option<(Step, &str)> {
    for quote in ["'", "\""] {
        if let Some(quoted) = text.strip_prefix(quote) {
            let (name, rest) = quoted.split_once(&format!("{quote}]"))?;
            return Some((Step::Field(name.to_owned()), rest));
        }
    }
    let (index, rest) = text.split_once(']')?;
    let index = index.parse().ok().filter(|index| *index < MAX_ITEMS)?;
    Some((Step::Item(index), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_come_together() {
        let check = |pieces: Value, expected: Value| {
            let mut arguments = json!({});
            for piece in serde_json::from_str::<Vec<PartialArgument>>(&pieces.to_string()).unwrap() {
                put(&mut arguments, piece);
            }
            assert_eq!(arguments, expected, "{pieces}");
        };
        check(json!([]), json!({}));
        check(
            json!([{ "jsonPath": "$.a", "stringValue": "x" }, { "jsonPath": "$.a", "stringValue": "y" }]),
            json!({ "a": "xy" }),
        );
        check(
            json!([{ "jsonPath": "$.l[1].p", "numberValue": 0.5 }, { "jsonPath": "$.l[0]", "boolValue": true }]),
            json!({ "l": [true, { "p": 0.5 }] }),
        );
        check(json!([{ "jsonPath": "$['a.b'][\"c\"]", "stringValue": "x" }]), json!({ "a.b": { "c": "x" } }));
        check(json!([{ "jsonPath": "$.a", "nullValue": "NULL_VALUE" }]), json!({ "a": null }));
        check(json!([{ "jsonPath": "$.l[99999999999]", "numberValue": 1 }, { "stringValue": "x" }]), json!({}));
        check(json!([{ "jsonPath": format!("${}", ".a".repeat(1_000)), "numberValue": 1 }]), json!({}));
    }
}
