//! Assembles arguments that are streamed as values with paths (`$.list[0].name`).

use super::api::PartialArgument;
use serde_json::{Map, Value};

/// The maximum length of an array; a path with a larger index is ignored.
const MAX_LIST_LENGTH: usize = 1_000;
/// The maximum depth of a path.
const MAX_DEPTH: usize = 32;

/// A step of a path.
#[derive(Debug, PartialEq)]
enum PathStep {
    Field(String),
    Item(usize),
}

/// Inserts a value at its path; an existing string is extended. An invalid path is ignored.
pub(crate) fn insert_value(arguments: &mut Value, piece: PartialArgument) {
    let Some(steps) = piece.json_path.as_deref().and_then(parse_path) else { return };
    let place = steps.into_iter().fold(arguments, child_mut);
    match (piece.string_value, place) {
        (Some(more), Value::String(text)) => text.push_str(&more),
        (Some(text), place) => *place = text.into(),
        (None, place) => *place = piece.number_value.or(piece.bool_value.map(Value::Bool)).unwrap_or(Value::Null),
    }
}

/// Returns the value at a step, which is created if it does not exist.
fn child_mut(value: &mut Value, step: PathStep) -> &mut Value {
    match step {
        PathStep::Field(name) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            &mut value[name]
        }
        PathStep::Item(index) => {
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

/// Parses a path such as `$.a[0]["b"]`; `None` if it is invalid.
fn parse_path(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        (step, rest) = match rest.strip_prefix('.') {
            Some(field) => {
                let end = field.find(['.', '[']).unwrap_or(field.len());
                (PathStep::Field(field[..end].to_owned()), &field[end..])
            }
            None => parse_bracket(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
        if steps.len() > MAX_DEPTH {
            return None;
        }
    }
    Some(steps)
}

fn parse_bracket(text: &str) -> Option<(PathStep, &str)> {
    for quote in ["'", "\""] {
        if let Some(quoted) = text.strip_prefix(quote) {
            let (name, rest) = quoted.split_once(&format!("{quote}]"))?;
            return Some((PathStep::Field(name.to_owned()), rest));
        }
    }
    let (index, rest) = text.split_once(']')?;
    let index = index.parse().ok().filter(|index| *index < MAX_LIST_LENGTH)?;
    Some((PathStep::Item(index), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn partial_arguments_are_assembled() {
        let check = |pieces: Value, expected: Value| {
            let mut arguments = json!({});
            for piece in serde_json::from_str::<Vec<PartialArgument>>(&pieces.to_string()).unwrap() {
                insert_value(&mut arguments, piece);
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
