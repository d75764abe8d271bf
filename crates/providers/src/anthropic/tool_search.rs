//! The API's own search for tools: the model does not read the `deferrable` tools of a request before the search has
//! found them. Source: Anthropic's pages on its tool search tool.

use contract::ToolSpec;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The beginning of the types and the names of the search tools.
const SEARCH: &str = "tool_search_tool";
/// The type of a result.
const RESULT: &str = "tool_search_tool_result";

/// Returns the search tool.
pub(super) fn search_tool() -> Value {
    json!({ "type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25" })
}

/// Returns the tools that the search finds. Servers need not list their tools in the same order each time.
pub(super) fn deferred_tools<'t>(tools: impl Iterator<Item = &'t ToolSpec>) -> Vec<Value> {
    let mut tools: Vec<_> = tools.collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let deferred = |tool: &ToolSpec| {
        let ToolSpec { name, description, input_schema, .. } = tool;
        json!({ "name": name, "description": description, "input_schema": input_schema, "defer_loading": true })
    };
    tools.into_iter().map(deferred).collect()
}

/// Returns whether the API loads a tool only when it is found. Such a tool is not cached.
pub(super) fn is_deferred(tool: &Value) -> bool {
    tool["defer_loading"] == true
}

/// Removes from the history what the API refuses: searches, if the request has no search tool any more, and found
/// tools that the request does not have, for example because their server cannot be reached.
pub(super) fn remove_unknown(body: &mut Map<String, Value>) {
    let tools = body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let kinds = || tools.iter().filter_map(|tool| tool["type"].as_str());
    let can_search = kinds().any(|kind| kind.starts_with(SEARCH));
    // The tools of the provider's own connections to MCP servers are not known here.
    let knows_all = !kinds().any(|kind| kind == "mcp_toolset");
    let names: HashSet<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
    let messages = body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
    for blocks in messages.filter_map(|message| message.get_mut("content")?.as_array_mut()) {
        if !blocks.iter().any(is_search) {
            continue;
        }
        if !can_search {
            blocks.retain(|block| !is_search(block));
            if blocks.is_empty() {
                blocks.push(json!({ "type": "text", "text": "(I have searched for tools.)" }));
            }
            continue;
        }
        let results = blocks.iter_mut().filter(|block| block["type"] == RESULT && knows_all);
        for found in results.filter_map(|block| block["content"].get_mut("tool_references")?.as_array_mut()) {
            found.retain(|tool| tool["tool_name"].as_str().is_some_and(|name| names.contains(name)));
        }
    }
}

/// Returns whether a block is a call of a search tool, or its result.
fn is_search(block: &Value) -> bool {
    let is_call =
        block["type"] == "server_tool_use" && block["name"].as_str().is_some_and(|name| name.starts_with(SEARCH));
    is_call || block["type"] == RESULT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks of a reply with a search after they were cleaned for a request with these tools.
    fn cleaned(tools: Value, blocks: Value) -> String {
        let body = json!({ "tools": tools, "messages": [{ "role": "assistant", "content": blocks }] });
        let Value::Object(mut body) = body else { panic!() };
        remove_unknown(&mut body);
        let blocks = body["messages"][0]["content"].as_array().unwrap().clone();
        blocks.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn searches_are_kept_as_far_as_the_request_knows_them() {
        let search = json!({ "type": "server_tool_use", "id": "s", "name": "tool_search_tool_bm25", "input": {} });
        let found = |names: &[&str]| {
            let tools: Vec<_> =
                names.iter().map(|name| json!({ "type": "tool_reference", "tool_name": name })).collect();
            json!({ "type": RESULT, "tool_use_id": "s", "content": { "type": "tool_search_tool_search_result", "tool_references": tools } })
        };
        let failed = json!({ "type": RESULT, "tool_use_id": "s", "content": { "type": "tool_search_tool_result_error", "error_code": "unavailable" } });
        let text = json!({ "type": "text", "text": "Hi" });
        let own = json!({ "name": "crm_find" });
        let check = |tools: &[&Value], blocks: &[&Value], expected: &[&Value]| {
            let expected: Vec<_> = expected.iter().copied().map(Value::to_string).collect();
            assert_eq!(cleaned(json!(tools), json!(blocks)), expected.join("\n"), "{tools:?}");
        };
        let (both, one) = (found(&["crm_find", "crm_gone"]), found(&["crm_find"]));
        check(&[&search_tool(), &own], &[&search, &both, &text], &[&search, &one, &text]);
        check(&[&search_tool()], &[&search, &one], &[&search, &found(&[])]);
        check(&[&search_tool(), &own], &[&search, &failed], &[&search, &failed]);
        check(&[&search_tool(), &json!({ "type": "mcp_toolset" })], &[&search, &both], &[&search, &both]);
        check(&[&own], &[&search, &both, &text], &[&text]);
        let note = json!({ "type": "text", "text": "(I have searched for tools.)" });
        check(&[&own], &[&search, &both], &[&note]);
        let other = json!({ "type": "server_tool_use", "id": "w", "name": "web_search", "input": {} });
        check(&[&own], &[&other, &text], &[&other, &text]);
    }
}
