//! An agent's `tools`: endpoints that the model can call.

use super::entry::{ToolEntry, ToolProperties};
use crate::agent::ToolRef;
use crate::section::annotations;
use crate::section::api::routine;
use crate::section::confirm::{self, ConfirmEntry};
use crate::section::entry_ref::{EntryKind, EntryRef};
use crate::section::value::{EndpointId, ToolName};
use crate::section::{Context, refuse_prototype_key};
use crate::shape::{list_items, pattern};
use config_source::{Node, NodeKind, PathStep, Span};
use contract::DeclaredAnnotations;
use std::collections::HashMap;
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;

/// The tools of an agent with a `fileSystem`.
pub(crate) const FILE_TOOLS: [&str; 4] = ["read-file", "list-files", "search-files", "stat-file"];

/// Reads an agent's `tools`.
pub(crate) fn read(agent: &Node, context: &mut Context<'_, '_>) -> Vec<ToolRef> {
    let Some(list) = agent.get("tools") else { return Vec::new() };
    let mut taken: HashMap<String, Span> = HashMap::new();
    let mut tools = Vec::new();
    for node in list_items(&list.value, context.report) {
        let Some(entry) = context.decode::<ToolEntry>(node) else {
            continue;
        };
        let ToolProperties {
            endpoint_id: EndpointId(endpoint_id),
            confirm,
            visible_parameters,
            name,
            annotations: marks,
        } = match entry {
            ToolEntry::Long(properties) => properties,
            ToolEntry::Short(endpoint_id) => {
                let marks = DeclaredAnnotations::default();
                ToolProperties { endpoint_id, confirm: None, visible_parameters: None, name: None, annotations: marks }
            }
        };
        let (endpoint_at, name_at) =
            (node.span_at(&[PathStep::Key("endpointId")]), node.span_at(&[PathStep::Key("name")]));
        let confirm = ConfirmEntry::read(confirm);
        check_endpoint(&endpoint_id, endpoint_at, confirm.is_some(), context);
        let visible_parameters = confirm::visible_parameters(visible_parameters, &endpoint_id, node, context);
        let name = name.map_or_else(|| endpoint_id.replace('/', "__"), |ToolName(name)| name);
        check_name(&name, name_at, context);
        if let Some(first) = taken.insert(name.clone(), node.at) {
            let help = format!("the first one is in line {}; give one of them another `name`", first.line);
            context.report.error(name_at, format!("this agent has two tools with the name `{name}`"), Some(help));
        }
        let marks = annotations::for_endpoint(marks, &endpoint_id, context);
        tools.push(ToolRef { endpoint_id, confirm, visible_parameters, name, annotations: marks });
    }
    tools
}

/// Returns the names of an agent's tools and sub-agents as they are written, with their positions.
pub(crate) fn tool_names(agent: &Node) -> HashMap<String, Span> {
    let of = |list: &str, key: &str| {
        let items = agent.get(list).map(|entry| entry.value.items()).unwrap_or_default();
        let name = |item: &Node| {
            let name = item.get("name").or(item.get(key)).map_or(item, |entry| &entry.value);
            Some((name.text()?.replace('/', "__"), name.at))
        };
        items.iter().filter_map(name).collect::<Vec<_>>()
    };
    of("tools", "endpointId").into_iter().chain(of("agents", "agentId")).collect()
}

/// Returns the endpoints that an agent's `tools` refer to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    list_references(agent, "tools", "endpointId", EntryKind::Endpoint)
}

/// Returns the ids in a list of an agent, whose items are an id or a mapping with the id under
/// `key`.
pub(crate) fn list_references<'n>(agent: &'n Node, list: &str, key: &str, thing: EntryKind) -> Vec<EntryRef<'n>> {
    let items = agent.get(list).map(|entry| entry.value.items()).unwrap_or_default();
    let id = |item: &'n Node| item.get(key).map_or(item, |entry| &entry.value);
    items.iter().map(id).filter_map(|id| Some((thing, id.text()?, id.at))).collect()
}

/// Checks that an endpoint exists and has what a model needs to know about a tool, and warns if it
/// writes without an approval.
pub(crate) fn check_endpoint(id: &str, at: Span, confirm: bool, context: &mut Context<'_, '_>) {
    let Some(endpoint) = context.endpoint(id, at) else { return };
    for (key, purpose) in [("description", "the model chooses tools by it"), ("payloadSchema", "the model fills it in")]
    {
        if endpoint.get(key).is_none_or(|entry| matches!(entry.value.kind, NodeKind::Null)) {
            let help = format!("add it to the endpoint, at {}: {purpose}", context.report.location(endpoint.at));
            context.report.error(at, format!("the endpoint `{id}` has no `{key}`, so it cannot be a tool"), Some(help));
        }
    }
    if !confirm && routine::writes(endpoint) {
        let help = "write `{ endpointId: …, confirm: true }` to ask the user before each call".replace('…', id);
        context.report.warning(
            at,
            format!("the agent may call `{id}`, which changes data, without asking"),
            Some(help),
        );
    }
}

/// Checks the name of a tool.
pub(crate) fn check_name(name: &str, at: Span, context: &mut Context<'_, '_>) {
    refuse_prototype_key(name, at, context.report);
    // Also for agents that have none of these tools, so that a name means the same everywhere.
    let of_loop = [agent::READ_RESULT_TOOL, agent::TOOL_SEARCH, agent::TOOL_CALL];
    if [UPDATE_PAGE_STATE, ASK_USER].contains(&name) || of_loop.contains(&name) || FILE_TOOLS.contains(&name) {
        let help = "give it another `name`".to_owned();
        context.report.error(at, format!("the tool name `{name}` belongs to the platform"), Some(help));
    } else if let Some((problem, rule)) = pattern::violation(name, pattern::TOOL_NAME) {
        context.report.error(at, problem, Some(format!("give it a `name`: {rule}")));
    }
}
