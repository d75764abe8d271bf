//! Tools of calls in the history, for requests without tools: the API refuses calls and their results if no tools are
//! declared, for example after the conversation was handed to an agent without tools. Source: the issue 494 of Anthropic's
//! SDK for Python.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Declares the tools that were called in the history if the request has none. The model cannot call them.
pub(super) fn declare(body: &mut Map<String, Value>) {
    if body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty()) {
        return;
    }
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
    let calls = blocks.filter(|block| block["type"] == "tool_use");
    let names: BTreeSet<_> = calls.filter_map(|call| call["name"].as_str()).collect();
    if names.is_empty() {
        return;
    }
    let tools: Vec<_> = names.into_iter().map(declaration).collect();
    body.insert("tools".to_owned(), tools.into());
    body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
}

fn declaration(name: &str) -> Value {
    json!({ "name": name, "description": "Not available any more.", "input_schema": { "type": "object" } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn called_tools_are_declared_if_the_request_has_none() {
        let call = |name: &str| json!({ "type": "tool_use", "id": "t", "name": name, "input": {} });
        let check = |fields: Value, calls: &[&str], expected: Value| {
            let Value::Object(mut body) = fields else { panic!() };
            let content: Vec<_> = calls.iter().map(|name| call(name)).collect();
            body.insert("messages".to_owned(), json!([{ "role": "assistant", "content": content }]));
            declare(&mut body);
            body.shift_remove("messages");
            assert_eq!(Value::Object(body), expected);
        };
        let declared = |names: &[&str]| names.iter().map(|name| declaration(name)).collect::<Vec<_>>();
        let none = json!({ "type": "none" });
        check(json!({}), &[], json!({}));
        check(
            json!({}),
            &["weather", "crm_find", "weather"],
            json!({ "tools": declared(&["crm_find", "weather"]), "tool_choice": none }),
        );
        check(json!({ "tools": [] }), &["weather"], json!({ "tools": declared(&["weather"]), "tool_choice": none }));
        let own = json!({ "tools": [{ "name": "own" }], "tool_choice": { "type": "auto" } });
        check(own.clone(), &["weather"], own);
    }
}
