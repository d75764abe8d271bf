//! An agent's `hooks`: endpoints that are called during its runs.

use crate::agent::Hooks;
use crate::section::Context;
use crate::section::access_rules::{EntryKind, EntryRef};
use crate::section::value::EndpointId;
use crate::source::Node;
use schemars::JsonSchema;
use serde::Deserialize;

/// Endpoints that are called during an agent's runs, with the event as payload. Only those of
/// `onFinish` are waited for. An endpoint that fails is logged and has no effect on the run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HooksEntry {
    /// When a run begins: `model`, `tools`.
    on_start: Vec<EndpointId>,
    /// When a step begins: `stepNumber`.
    on_step_start: Vec<EndpointId>,
    /// Before a tool runs: `stepNumber`, `toolCall`.
    on_tool_call_start: Vec<EndpointId>,
    /// After a tool has run: `stepNumber`, `toolCall`, `durationMs`, `success`, `output` or
    /// `error`.
    on_tool_call_finish: Vec<EndpointId>,
    /// When a step is done, tool calls included: `stepNumber`, `text`, `toolCalls`, `toolResults`,
    /// `finishReason`, `usage`.
    on_step_finish: Vec<EndpointId>,
    /// When the run ends: `messages`, `steps`, `toolResults`, `finishReason`, `isAborted`, `usage`.
    /// They are called one after the other. The `dataParts: [{ type, data, id }]` that they return
    /// become part of the message. `data-chat-title` with `{ title }` names the conversation.
    on_finish: Vec<EndpointId>,
}

/// Reports endpoints that do not exist.
pub(crate) fn check(agent: &Node, context: &mut Context<'_, '_>) {
    for list in agent.get("hooks").map(|entry| entry.value.entries()).unwrap_or_default() {
        for item in list.value.items() {
            if let Some(id) = item.text() {
                context.endpoint(id, item.at);
            }
        }
    }
}

/// Returns the endpoints that an agent's hooks refer to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    let lists = agent.get("hooks").map(|entry| entry.value.entries()).unwrap_or_default();
    let named = lists.iter().flat_map(|list| list.value.items());
    named.filter_map(|item| Some((EntryKind::Endpoint, item.text()?, item.at))).collect()
}

/// Converts the hooks.
pub(crate) fn into_hooks(entry: HooksEntry) -> Hooks {
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
