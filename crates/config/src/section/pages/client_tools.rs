//! `clientTools` of a chat: tools that the page runs in the user's browser.

use super::events;
use crate::config::ClientTool;
use crate::section::agents::tools;
use crate::section::api::payload_schema;
use crate::section::confirm::ConfirmEntry;
use crate::section::dynamic::{self, ReadableNames, ValueContext};
use crate::section::pages::PageIndex;
use crate::section::value::{Text, ToolName};
use crate::section::{Context, DeclaredIds};
use crate::shape::list_items;
use config_source::{Node, NodeKind, PathStep, Span};
use contract::DeclaredAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use wire::page;

/// The most tools of one chat.
const MAX_TOOLS: usize = 50;

/// A tool that the page runs in the user's browser.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientToolEntry {
    /// The tool's name for the model.
    name: ToolName,
    /// The purpose of the tool; the model chooses tools by it.
    description: Text,
    /// The JSON Schema of the tool's input, an object.
    #[serde(rename = "inputSchema")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    input_schema: Value,
    /// Lets the user approve each call: `true`, or settings. Default: no approval.
    confirm: Option<ConfirmEntry>,
    /// The timeout of one call in milliseconds. Default: 30,000.
    #[schemars(range(min = 100, max = 600_000))]
    timeout_ms: Option<u64>,
    #[serde(flatten)]
    annotations: DeclaredAnnotations,
    /// The actions that run one after the other. `{ _event: key }` reads the tool's input. An
    /// action that fails ends the call, and the model gets the error.
    #[serde(rename = "actions", default)]
    #[schemars(with = "Vec<page::Action>", length(min = 1), extend("x-checked-apart" = true))]
    _actions: Value,
    /// Instead of actions: the embedding page of another site runs the tool, with a handler that
    /// its script has registered for the name.
    #[serde(default)]
    host: bool,
    /// The result for the model; operators are allowed. Default: the result of the last action.
    result: Option<Value>,
}

/// The tools of one chat: as the server declares them to the model, and as the browser gets them.
#[derive(Default)]
pub(crate) struct ChatTools {
    pub(crate) declared: Vec<ClientTool>,
    pub(crate) for_browser: Vec<page::ClientTool>,
}

/// Reads the tools of the chat block at `block`, whose id is `block_id`.
pub(crate) fn read(block: &Node, block_id: &str, survey: &PageIndex<'_>, context: &mut Context<'_, '_>) -> ChatTools {
    let mut tools = ChatTools::default();
    let Some(list) = client_tools_of(block) else { return tools };
    let agent_id = agent_id_of(block).unwrap_or_default();
    let mut taken = context.agents.get(agent_id).map(|agent| tools::tool_names(agent)).unwrap_or_default();
    let own = list_items(list, context.report);
    if own.len() > MAX_TOOLS {
        context.report.error(list.at, format!("{} tools; {MAX_TOOLS} are the most", own.len()), None);
    }
    for node in own {
        let Some((declared, shown)) = tool(node, (block_id, agent_id), survey, context) else { continue };
        check_name(&declared.name, node, &mut taken, agent_id, context);
        tools.declared.push(declared);
        tools.for_browser.push(shown);
    }
    tools
}

fn tool(
    node: &Node,
    (block_id, agent_id): (&str, &str),
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) -> Option<(ClientTool, page::ClientTool)> {
    let mut steps = Vec::new();
    let actions = match node.get("actions") {
        Some(list) => events::actions(&list.value, None, &mut steps, survey, context),
        None => Vec::new(),
    };
    let entry = context.decode::<ClientToolEntry>(node);
    match node.get("inputSchema") {
        Some(schema) => payload_schema::check(&schema.value, "input schema", context.report),
        None => {
            let help = "the model fills it in: `inputSchema: { type: object, properties: … }`".to_owned();
            context.report.error(node.at, "`inputSchema` is missing here", Some(help));
        }
    }
    if let Some(result) = node.get("result") {
        let names = ReadableNames { state: &survey.state, steps: &steps, event: None };
        dynamic::check(&result.value, ValueContext::Action, names, context.vocabulary, context.report);
    }
    check_actions(node, context);
    let entry = entry?;
    let name = entry.name.0;
    let declared = ClientTool {
        block_id: block_id.to_owned(),
        agent_id: agent_id.to_owned(),
        name: name.clone(),
        description: entry.description.0,
        input_schema: entry.input_schema,
        confirm: ConfirmEntry::read(entry.confirm),
        annotations: entry.annotations,
    };
    let result = entry.result.unwrap_or_default();
    let (host, timeout_ms, idempotent) =
        (entry.host, entry.timeout_ms, contract::Annotations::from(declared.annotations).idempotent);
    let shown = page::ClientTool { name, actions, host, result, timeout_ms, idempotent };
    Some((declared, shown))
}

/// Checks that a tool either has actions or is run by the embedding site.
fn check_actions(node: &Node, context: &mut Context<'_, '_>) {
    let is_idle = |list: &Node| matches!(list.kind, NodeKind::List(_) | NodeKind::Null) && list.items().is_empty();
    let idle = node.get("actions").is_none_or(|list| is_idle(&list.value));
    match node.get("host").filter(|host| matches!(host.value.kind, NodeKind::Bool(true))) {
        None if idle => {
            let at = node.get("actions").map_or(node.at, |list| list.key_at);
            let help = "write what the page does as a list of actions under `actions`, or `host: true`".to_owned();
            context.report.error(at, "this tool does nothing", Some(help));
        }
        Some(_) => {
            for other in ["actions", "result"].into_iter().filter_map(|key| node.get(key)) {
                let message = format!("the site around does this tool's work, so `{}` has no meaning", other.key);
                context.report.error(other.key_at, message, Some("leave one of the two out".to_owned()));
            }
        }
        None => {}
    }
}

/// Reports names that are reserved or that another tool of the agent has.
fn check_name(
    name: &str,
    node: &Node,
    taken: &mut HashMap<String, Span>,
    agent_id: &str,
    context: &mut Context<'_, '_>,
) {
    let at = node.span_at(&[PathStep::Key("name")]);
    tools::check_name(name, at, context);
    if let Some(first) = taken.insert(name.to_owned(), at) {
        let help = format!("the first one is at {}; give one of them another `name`", context.report.location(first));
        let message = format!("the agent `{agent_id}` has two tools with the name `{name}`");
        context.report.error(at, message, Some(help));
    }
}

fn property<'n>(block: &'n Node, key: &str) -> Option<&'n Node> {
    block.get("properties").and_then(|properties| Some(&properties.value.get(key)?.value))
}

fn agent_id_of(block: &Node) -> Option<&str> {
    property(block, "agentId")?.text()
}

fn client_tools_of(block: &Node) -> Option<&Node> {
    (crate::section::type_of(block) == Some("AgentChat")).then(|| property(block, "clientTools"))?
}

/// Returns the lists of actions of a chat's tools; none for another block.
pub(crate) fn action_lists(block: &Node) -> impl Iterator<Item = &Node> {
    let tools = client_tools_of(block).map(Node::items).unwrap_or_default();
    tools.iter().filter_map(|tool| Some(&tool.get("actions")?.value))
}

/// Returns the names of the client tools that pages offer to each agent, by its id.
pub(crate) fn names_by_agent<'n>(pages: &DeclaredIds<'n>) -> HashMap<&'n str, Vec<&'n str>> {
    let mut names: HashMap<&'n str, Vec<&'n str>> = HashMap::new();
    let mut open: Vec<&'n Node> = pages.values().copied().collect();
    while let Some(node) = open.pop() {
        if let (Some(tools), Some(agent_id)) = (client_tools_of(node), agent_id_of(node)) {
            let offered = tools.items().iter().filter_map(|tool| tool.get("name")?.value.text());
            names.entry(agent_id).or_default().extend(offered);
        }
        open.extend(node.get("blocks").map(|entry| entry.value.items()).unwrap_or_default());
    }
    names
}
