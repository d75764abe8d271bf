//! An agent's hooks: endpoints that are told about its runs (L-10, L-74 to L-78).

use super::Context;
use super::reach::{Thing, Use};
use super::value::EndpointId;
use crate::agent::Hooks;
use crate::source::Node;
use schemars::JsonSchema;
use serde::Deserialize;

/// Endpoints that are called while an agent runs, each with what has happened as its payload. Only the last ones are waited for; one
/// that fails is logged and changes nothing.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HooksEntry {
    /// A run begins: `model`, `tools`.
    on_start: Vec<EndpointId>,
    /// A reply begins: `stepNumber`.
    on_step_start: Vec<EndpointId>,
    /// A tool is about to run: `stepNumber`, `toolCall`.
    on_tool_call_start: Vec<EndpointId>,
    /// A tool has run: `stepNumber`, `toolCall`, `durationMs`, `success`, `output` or `error`.
    on_tool_call_finish: Vec<EndpointId>,
    /// A reply and its tools are done: `stepNumber`, `text`, `toolCalls`, `toolResults`, `finishReason`, `usage`.
    on_step_finish: Vec<EndpointId>,
    /// The run ends: `messages`, `steps`, `toolResults`, `finishReason`, `isAborted`, `usage`. One after the other; what they return as
    /// `dataParts: [{ type, data, id }]` becomes part of the message. `data-chat-title` with `{ title }` names the conversation.
    on_finish: Vec<EndpointId>,
}

/// Reports endpoints that are not there.
pub(super) fn check(agent: &Node, context: &mut Context<'_, '_>) {
    for list in agent.get("hooks").map(|entry| entry.value.entries()).unwrap_or_default() {
        for item in list.value.items() {
            if let Some(id) = item.text() {
                context.endpoint(id, item.at);
            }
        }
    }
}

/// The endpoints that an agent's hooks name.
pub(super) fn uses(agent: &Node) -> Vec<Use<'_>> {
    let lists = agent.get("hooks").map(|entry| entry.value.entries()).unwrap_or_default();
    let named = lists.iter().flat_map(|list| list.value.items());
    named.filter_map(|item| Some((Thing::Endpoint, item.text()?, item.at))).collect()
}

/// The hooks of an entry.
pub(super) fn typed(entry: HooksEntry) -> Hooks {
    let ids = |list: Vec<EndpointId>| list.into_iter().map(|EndpointId(id)| id).collect();
    Hooks {
        start: ids(entry.on_start),
        step_start: ids(entry.on_step_start),
        tool_call_start: ids(entry.on_tool_call_start),
        tool_call_finish: ids(entry.on_tool_call_finish),
        step_finish: ids(entry.on_step_finish),
        finish: ids(entry.on_finish),
    }
}
