//! What the provider keeps in its cache: with `providerOptions.anthropic.cacheControl` the tools, the instructions and the
//! history, each up to its end, so that the next request pays little for them.

use serde_json::{Map, Value};

/// Marks the ends; `control` is for example `{"type": "ephemeral"}`.
pub(crate) fn mark(body: &mut Map<String, Value>, control: &Value) {
    for key in ["tools", "system"] {
        last(body.get_mut(key), control);
    }
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    let newest = messages.and_then(|messages| messages.last_mut());
    last(newest.and_then(|message| message.get_mut("content")), control);
}

fn last(list: Option<&mut Value>, control: &Value) {
    let Some(last) = list.and_then(Value::as_array_mut).and_then(|list| list.last_mut()) else { return };
    // Thoughts cannot be marked.
    if !matches!(last["type"].as_str(), Some("thinking" | "redacted_thinking")) {
        last["cache_control"] = control.clone();
    }
}
