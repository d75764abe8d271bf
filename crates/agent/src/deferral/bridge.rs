//! The tool through which deferred tools are called.

use crate::deferral::{TOOL_CALL, TOOL_SEARCH};
use contract::{
    AssistantPart, Message, ProviderMetadata, Tool, ToolCall, ToolContext, ToolError, ToolResult, ToolSpec,
};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// The key of the metadata of a call that was made through the bridge. Providers read only the
/// metadata under their own names.
const METADATA: &str = "chatwright";

/// The declaration of the bridge. It never runs: a call is replaced by that of the tool it names.
pub(super) struct Bridge(ToolSpec);

impl Bridge {
    pub(super) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "The name of the tool." },
                "arguments": { "type": "object", "description": "The arguments, as the tool's parameters say." },
            },
            "required": ["name", "arguments"],
        });
        let about = format!(
            "Calls a tool that is found by search. Look up its parameters with {TOOL_SEARCH} before, unless you have seen \
             them in this conversation."
        );
        Self(ToolSpec::new(TOOL_CALL, about, schema))
    }
}

impl Tool for Bridge {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async { Err(ToolError::new("Name a tool that exists.")) })
    }
}

/// Returns the name and the arguments of the tool that a call of the bridge names. Models sometimes
/// write the arguments as text, or leave out empty ones.
pub(crate) fn target(input: &Value) -> Option<(&str, Value)> {
    let name = input.get("name")?.as_str()?;
    let arguments = match input.get("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        Some(arguments) => arguments.clone(),
    };
    Some((name, arguments))
}

/// Marks a call as made through the bridge. The mark is stored with the call.
pub(crate) fn mark(metadata: Option<ProviderMetadata>) -> Option<ProviderMetadata> {
    let mut metadata = metadata.unwrap_or_default();
    metadata.insert(METADATA.to_owned(), marker());
    Some(metadata)
}

/// Returns the metadata of a call that was made through the bridge.
pub(super) fn marker() -> Value {
    json!({ "bridge": true })
}

fn is_bridged(call: &ToolCall) -> bool {
    let own = call.metadata.as_ref().and_then(|metadata| metadata.get(METADATA));
    own.is_some_and(|own| own["bridge"] == true) && !call.provider_executed
}

/// Returns whether a part is a call that was made through the bridge.
pub(super) fn is_marked(part: &AssistantPart) -> bool {
    matches!(part, AssistantPart::ToolCall(call) if is_bridged(call))
}

/// Returns the messages with the calls of deferred tools as calls of the bridge. Messages without
/// such calls stay shared.
pub(crate) fn as_written(messages: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let mut bridged = HashSet::new();
    let written = messages.into_iter().map(|message| match &*message {
        Message::Assistant(parts) if parts.iter().any(is_marked) => {
            let parts = parts.iter().map(|part| match part {
                AssistantPart::ToolCall(call) if is_bridged(call) => {
                    bridged.insert(call.id.clone());
                    AssistantPart::ToolCall(through_bridge(call))
                }
                part => part.clone(),
            });
            Arc::new(Message::Assistant(parts.collect()))
        }
        Message::Tool(results) if results.iter().any(|result| bridged.contains(&result.call_id)) => {
            let results = results.iter().map(|result| {
                if bridged.contains(&result.call_id) {
                    ToolResult { name: TOOL_CALL.to_owned(), ..result.clone() }
                } else {
                    result.clone()
                }
            });
            Arc::new(Message::Tool(results.collect()))
        }
        _ => message,
    });
    written.collect()
}

fn through_bridge(call: &ToolCall) -> ToolCall {
    let input = json!({ "name": call.name, "arguments": call.input });
    ToolCall { name: TOOL_CALL.to_owned(), input, ..call.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_as_models_write_them() {
        let check = |input: Value, expected: Option<(&str, Value)>| assert_eq!(target(&input), expected, "{input}");
        check(json!({ "name": "a", "arguments": { "x": 1 } }), Some(("a", json!({ "x": 1 }))));
        check(json!({ "name": "a", "arguments": "{\"x\":1}" }), Some(("a", json!({ "x": 1 }))));
        check(json!({ "name": "a", "arguments": "x" }), Some(("a", json!("x"))));
        check(json!({ "name": "a" }), Some(("a", json!({}))));
        check(json!({ "name": 1, "arguments": {} }), None);
        check(json!({ "x": 1 }), None);
    }
}
