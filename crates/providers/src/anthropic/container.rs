//! The container in which Anthropic runs a conversation's code. Later requests name it, so that the
//! files of earlier answers still exist, and a program that waits for a tool's result can continue.
//! Source: Anthropic's page on the code execution tool.

use super::PROVIDER;
use super::api::Container;
use contract::{AssistantPart, Message, Part};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The type of the item that stores a container's id in the history. The API has no such block, so
/// it is not sent as one.
const ITEM_TYPE: &str = "container";

/// Creates the item that stores a container's id.
pub(super) fn item(container: Container) -> Option<Part> {
    let id = container.id.filter(|id| !id.is_empty())?;
    let item = json!({ "type": ITEM_TYPE, "id": id, "expires_at": container.expires_at });
    Some(Part::ProviderItem { provider: PROVIDER.to_owned(), item, shown_as: Some(ITEM_TYPE.to_owned()) })
}

/// Returns whether an item of the history was created by [`item`].
pub(super) fn is_container_item(item: &Value) -> bool {
    item["type"] == ITEM_TYPE
}

/// Replaces a container that consists of an id only by the id.
fn simplify(body: &mut Map<String, Value>) {
    if let Some(container) = body.get_mut("container")
        && let Some(id) = container.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get("id"))
    {
        *container = id.clone();
    }
}

/// Adds the container of the last answer to a body, unless it has expired, the config names one, or
/// no tool in the body runs code.
pub(super) fn reuse_container(body: &mut Map<String, Value>, messages: &[Arc<Message>], now: Timestamp) {
    simplify(body);
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let runs_code = |tool: &Value| {
        tool["type"].as_str().is_some_and(|kind| kind.starts_with("code_") || kind.ends_with("_20260209"))
    };
    if !tools.into_iter().any(runs_code) {
        return;
    }
    let Some(id) = last_container_id(messages, now) else { return };
    match body.get_mut("container") {
        None => {
            body.insert("container".to_owned(), id.into());
        }
        Some(Value::Object(given)) if !given.contains_key("id") => {
            given.insert("id".to_owned(), id.into());
        }
        Some(_) => {}
    }
}

/// Returns the id of the newest container, unless it has expired.
fn last_container_id(messages: &[Arc<Message>], now: Timestamp) -> Option<&str> {
    let parts = messages.iter().rev().filter_map(|message| match &**message {
        Message::Assistant(parts) => Some(parts.iter().rev()),
        _ => None,
    });
    let newest = parts.flatten().find_map(|part| match part {
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER && is_container_item(item) => Some(item),
        _ => None,
    })?;
    let expires_at = newest["expires_at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
    newest["id"].as_str().filter(|_| expires_at.is_none_or(|at| at > now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_of_the_last_answer_is_reused() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let check = |body: Value, expires_at: Value, expected: Value| {
            let item = json!({ "type": "container", "id": "c1", "expires_at": expires_at });
            let item_part = AssistantPart::ProviderItem { provider: PROVIDER.to_owned(), item };
            let Value::Object(mut body) = body else { unreachable!() };
            reuse_container(&mut body, &[Arc::new(Message::Assistant(vec![item_part]))], now);
            assert_eq!(body.get("container").cloned().unwrap_or_default(), expected, "{body:?}");
        };
        let tools = json!([{ "type": "code_execution_20250825" }]);
        check(json!({ "tools": tools }), Value::Null, json!("c1"));
        check(json!({ "tools": tools }), json!("2026-01-02T03:09:05.5Z"), json!("c1"));
        check(json!({ "tools": tools }), json!("2026-01-02T03:04:05Z"), Value::Null);
        check(json!({ "tools": [{ "name": "own" }] }), Value::Null, Value::Null);
        check(
            json!({ "tools": tools, "container": { "skills": [] } }),
            Value::Null,
            json!({ "skills": [], "id": "c1" }),
        );
        check(json!({ "tools": tools, "container": "c0" }), Value::Null, json!("c0"));
        check(json!({ "container": { "id": "c0" } }), Value::Null, json!("c0"));
    }
}
