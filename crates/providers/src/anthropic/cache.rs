//! Prompt caching: with `providerOptions.anthropic.cacheControl`, the tools, the instructions and
//! the history are cached up to their ends, so that the next request pays little for them.

use serde_json::{Map, Value};

/// Sets `cache_control` on the last tool, instruction and content block; `control` is for example
/// `{"type": "ephemeral"}`.
pub(crate) fn add_cache_control(body: &mut Map<String, Value>, control: &Value) {
    for key in ["tools", "system"] {
        mark_last(body.get_mut(key), control);
    }
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    let newest = messages.and_then(|messages| messages.last_mut());
    mark_last(newest.and_then(|message| message.get_mut("content")), control);
}

fn mark_last(list: Option<&mut Value>, control: &Value) {
    let Some(last) = list.and_then(Value::as_array_mut).and_then(|list| list.last_mut()) else { return };
    // Thinking blocks cannot have a `cache_control`.
    if !matches!(last["type"].as_str(), Some("thinking" | "redacted_thinking")) {
        last["cache_control"] = control.clone();
    }
}
