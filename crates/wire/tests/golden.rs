//! Compares with the results of the AI SDK for the same input. The cases are those of `tests/golden`, which
//! `generate.mjs` has written there, or of another folder of this form, which the variable `GOLDEN` names.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::path::PathBuf;
use wire::json::partial::{self as partial_json, ParseState};
use wire::{Chunk, Reducer, Role, UiMessage};

fn golden(path: &str) -> PathBuf {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden").into();
    std::env::var_os("GOLDEN").map_or_else(own, PathBuf::from).join(path)
}

#[test]
fn golden_partial_json() {
    let cases = std::fs::read(golden("partial-json.json")).unwrap();
    let cases: Vec<Box<RawValue>> = serde_json::from_slice(&cases).unwrap();
    assert!(cases.len() > 50, "{}", cases.len());
    // A lone surrogate is a valid string in JavaScript but not in Rust, so such cases are left out.
    for case in cases.iter().filter_map(|case| serde_json::from_str::<Value>(case.get()).ok()) {
        let text = case["text"].as_str().unwrap();
        let (value, state) = partial_json::parse(text);
        let state = match state {
            ParseState::Whole => "successful-parse",
            ParseState::Partial => "repaired-parse",
            ParseState::Failed => "failed-parse",
        };
        let undefined = json!({ "__undefined": true });
        let value = numbers(value.unwrap_or(undefined));
        assert_eq!((value, state), (numbers(case["value"].clone()), case["state"].as_str().unwrap()), "{text}");
    }
}

/// Converts all numbers to floats, since JavaScript has only one number type.
fn numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(numbers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, numbers(value))).collect(),
        other => other,
    }
}

#[test]
fn golden_scenarios() {
    let mut compared = 0;
    for entry in std::fs::read_dir(golden("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        let case: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let Some(messages) = case["onFinish"]["messages"].as_array() else { continue };
        let Some(expected) = messages.last().filter(|last| last["role"] == "assistant") else { continue };
        let begun = case["messages"].as_array().unwrap().last().filter(|last| last["role"] == "assistant");
        let start = begun.map_or_else(
            || UiMessage::new("", Role::Assistant),
            |begun| serde_json::from_value(begun.clone()).unwrap(),
        );
        let mut reducer = Reducer::new(start);
        for line in case["sse"].as_array().unwrap() {
            let data = line.as_str().unwrap().strip_prefix("data: ").unwrap();
            if data != "[DONE]" {
                let chunk: Chunk = serde_json::from_str(data).unwrap();
                // The SDK's stream may end with an error that its client throws.
                let _ = reducer.apply(&chunk);
            }
        }
        let parts = serde_json::to_value(&reducer.into_message().parts).unwrap();
        assert_eq!(normal(&parts), normal(&expected["parts"]), "{}", path.display());
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}

/// Removes the ids of reasoning parts, which the SDK's server omits and its client keeps.
fn normal(parts: &Value) -> Value {
    let mut parts = parts.clone();
    for part in parts.as_array_mut().unwrap() {
        part.as_object_mut().unwrap().shift_remove("id");
    }
    parts
}
