//! The API's own search for tools, in the history of a conversation whose model or tools have changed: only newer
//! models accept its items. Source: OpenAI's guide to tool search.

use serde_json::{Map, Value};

/// Removes the searches that the API ran, and the namespaces of found functions, from the history if the request has no
/// search any more. The calls of these functions stay, and so do searches that the caller ran.
pub(super) fn remove_unknown(body: &mut Map<String, Value>) {
    let tools = body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has = |kind: &str| tools.iter().any(|tool| tool["type"] == kind);
    if has("tool_search") {
        return;
    }
    let has_namespaces = has("namespace");
    let Some(items) = body.get_mut("input").and_then(Value::as_array_mut) else { return };
    *items = without_searches(std::mem::take(items));
    if !has_namespaces {
        let calls = items.iter_mut().filter(|item| item["type"] == "function_call");
        for call in calls.filter_map(Value::as_object_mut) {
            call.shift_remove("namespace");
        }
    }
}

/// Removes searches with the reasoning before them, which the API does not accept without the item that followed.
fn without_searches(items: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        if !is_search(&item) {
            kept.push(item);
        } else if item["type"] == "tool_search_call" && kept.last().is_some_and(|last| last["type"] == "reasoning") {
            kept.pop();
        }
    }
    kept
}

/// Returns whether an item belongs to a search that the API ran.
fn is_search(item: &Value) -> bool {
    matches!(item["type"].as_str(), Some("tool_search_call" | "tool_search_output")) && item["execution"] != "client"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn searches_are_kept_as_far_as_the_request_knows_them() {
        let early = json!({ "type": "reasoning", "id": "rs_1" });
        let thought = json!({ "type": "reasoning", "id": "rs_2" });
        let search = json!({ "type": "tool_search_call", "execution": "server", "call_id": null });
        let found = json!({ "type": "tool_search_output", "execution": "server", "call_id": null, "tools": [] });
        let own = json!({ "type": "tool_search_output", "execution": "client", "call_id": "c", "tools": [] });
        let call = json!({ "type": "function_call", "call_id": "f", "name": "crm_find", "namespace": "crm" });
        let plain = json!({ "type": "function_call", "call_id": "f", "name": "crm_find" });
        let result = json!({ "type": "function_call_output", "call_id": "f", "output": "ok" });
        let check = |tools: Value, expected: &[&Value]| {
            let input = json!([early, own, thought, search, found, call, result]);
            let Value::Object(mut body) = json!({ "tools": tools, "input": input }) else { panic!() };
            remove_unknown(&mut body);
            assert_eq!(body["input"], json!(expected), "{tools}");
        };
        let all = [&early, &own, &thought, &search, &found, &call, &result];
        check(json!([{ "type": "tool_search" }, { "type": "function", "name": "crm_find" }]), &all);
        check(json!([{ "type": "function", "name": "crm_find" }]), &[&early, &own, &plain, &result]);
        check(json!([{ "type": "namespace", "name": "crm" }]), &[&early, &own, &call, &result]);
        check(json!(null), &[&early, &own, &plain, &result]);
    }
}
