//! Prompt caching: with `providerOptions.anthropic.cacheControl`, the tools, the instructions and
//! the history are cached up to their ends, so that the next request pays little for them.

use super::tool_search;
use serde_json::{Map, Value};

/// Sets `cache_control` on the last tool that is not deferred, instruction and content block; `control` is for example
/// `{"type": "ephemeral"}`.
pub(crate) fn add_cache_control(body: &mut Map<String, Value>, control: &Value) {
    let tools = body.get_mut("tools").and_then(Value::as_array_mut);
    mark(tools.and_then(|tools| tools.iter_mut().rev().find(|tool| !tool_search::is_deferred(tool))), control);
    mark_last(body.get_mut("system"), control);
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    let newest = messages.and_then(|messages| messages.last_mut());
    mark_last(newest.and_then(|message| message.get_mut("content")), control);
}

fn mark_last(list: Option<&mut Value>, control: &Value) {
    mark(list.and_then(Value::as_array_mut).and_then(|list| list.last_mut()), control);
}

fn mark(last: Option<&mut Value>, control: &Value) {
    let Some(last) = last else { return };
    // Thinking blocks cannot have a `cache_control`.
    if !matches!(last["type"].as_str(), Some("thinking" | "redacted_thinking")) {
        last["cache_control"] = control.clone();
    }
}
