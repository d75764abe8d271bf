//! Compares what the model reads of the conversation, without what is new in each of its replies.

use crate::format::{BlobId, Recording};
use serde_json::Value;
use std::collections::HashMap;

/// The first message that differs.
pub(super) struct Difference {
    /// Its number, from 1.
    pub(super) number: usize,
    /// As recorded; empty if there is none.
    pub(super) before: String,
    /// In the replay.
    pub(super) after: String,
}

/// Returns the first message that differs. A model makes new ids for its calls in each reply, its provider signs the
/// parts anew, and its reasoning is worded differently each time; none of that is a change of the conversation.
pub(super) fn first_difference(
    (recorded, before): (&Recording, &[BlobId]),
    (replayed, after): (&Recording, &[BlobId]),
) -> Option<Difference> {
    if before == after {
        return None;
    }
    let (mut ids_before, mut ids_after) = (HashMap::new(), HashMap::new());
    (0..before.len().max(after.len())).find_map(|index| {
        let old = before.get(index).map(|id| comparable(recorded.blob(id), &mut ids_before));
        let new = after.get(index).map(|id| comparable(replayed.blob(id), &mut ids_after));
        let text = |message: &Option<Value>| message.as_ref().map(Value::to_string).unwrap_or_default();
        (old != new).then(|| Difference { number: index + 1, before: text(&old), after: text(&new) })
    })
}

/// Returns a message whose calls are numbered in the order in which they were made. `numbers` are those of the messages
/// before.
fn comparable(message: &Value, numbers: &mut HashMap<String, usize>) -> Value {
    let mut message = message.clone();
    let Some(parts) = message.get_mut("content").and_then(Value::as_array_mut) else { return message };
    parts.retain(|part| part["type"] != "reasoning");
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        part.remove("metadata");
        if let Some(item) = part.get_mut("item").and_then(Value::as_object_mut) {
            item.remove("id");
        }
        let is_call = part.get("type").is_some_and(|kind| kind == "tool-call");
        let key = if is_call { "id" } else { "callId" };
        if let Some(id) = part.get_mut(key) {
            let next = numbers.len() + 1;
            let number = *numbers.entry(id.as_str().unwrap_or_default().to_owned()).or_insert(next);
            *id = format!("call {number}").into();
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_are_numbered_and_what_is_new_in_each_reply_is_left_out() {
        let mut numbers = HashMap::new();
        let call = json!({ "role": "assistant", "content": [
            { "type": "reasoning", "text": "Hm.", "metadata": { "openai": { "itemId": "rs_1" } } },
            { "type": "text", "text": "Let me look.", "metadata": { "openai": { "itemId": "msg_1" } } },
            { "type": "tool-call", "id": "call_c385", "name": "look", "input": { "id": 7 } },
            { "type": "provider-item", "provider": "openai", "item": { "id": "ws_1", "type": "search" } },
        ] });
        let expected = json!({ "role": "assistant", "content": [
            { "type": "text", "text": "Let me look." },
            { "type": "tool-call", "id": "call 1", "name": "look", "input": { "id": 7 } },
            { "type": "provider-item", "provider": "openai", "item": { "type": "search" } },
        ] });
        assert_eq!(comparable(&call, &mut numbers), expected);
        let result = json!({ "role": "tool", "content": [{ "callId": "call_c385", "name": "look", "output": { "type": "text", "value": "x" } }] });
        assert_eq!(comparable(&result, &mut numbers)["content"][0]["callId"], "call 1");
        let other = json!({ "role": "tool", "content": [{ "callId": "call_9" }] });
        assert_eq!(comparable(&other, &mut numbers)["content"][0]["callId"], "call 2");
        assert_eq!(comparable(&json!({ "role": "system", "content": "Help." }), &mut numbers)["content"], "Help.");
    }
}
