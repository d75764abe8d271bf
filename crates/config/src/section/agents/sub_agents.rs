//! An agent's `agents`: sub-agents that it can delegate tasks to.

use super::tools::{self, check_name};
use crate::agent::{Agent, SubAgentRef, ToolRef};
use crate::section::Context;
use crate::section::entry_ref::{EntryKind, EntryRef};
use crate::section::value::{Id, Text, ToolName};
use crate::shape::list_items;
use config_source::{Node, PathStep};
use indexmap::IndexMap;
use schemars::JsonSchema;
use schemas::{Schema, SchemaError};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The most levels of sub-agents.
const MAX_DEPTH: usize = 5;

/// A sub-agent, which the model calls like a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SubAgentEntry {
    /// The agent's id.
    Short(Id),
    /// The agent with settings.
    Long(SubAgentProperties),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubAgentProperties {
    /// The id of the agent.
    agent_id: Id,
    /// The tasks that the sub-agent is good at; the model chooses by this text. Default: a general text.
    description: Option<Text>,
    /// The tool's name for the model. Default: the agent's id.
    name: Option<ToolName>,
    /// The JSON Schema of the task. Default: an object with one text, `task`.
    input_schema: Option<Map<String, Value>>,
}

/// Reads an agent's `agents`.
pub(crate) fn read(agent: &Node, tools: &[ToolRef], context: &mut Context<'_, '_>) -> Vec<SubAgentRef> {
    let Some(list) = agent.get("agents") else { return Vec::new() };
    let mut subs: Vec<SubAgentRef> = Vec::new();
    for node in list_items(&list.value, context.report) {
        let Some(entry) = context.decode::<SubAgentEntry>(node) else {
            continue;
        };
        let properties = match entry {
            SubAgentEntry::Long(properties) => properties,
            SubAgentEntry::Short(agent_id) => {
                SubAgentProperties { agent_id, description: None, name: None, input_schema: None }
            }
        };
        let Some(sub) = sub_agent(properties, node, context) else { continue };
        let at = node.span_at(&[PathStep::Key("name")]);
        check_name(&sub.name, at, context);
        let is_taken =
            tools.iter().any(|tool| tool.name == sub.name) || subs.iter().any(|known| known.name == sub.name);
        if is_taken {
            let help = "give one of them another `name`".to_owned();
            context.report.error(at, format!("this agent has two tools with the name `{}`", sub.name), Some(help));
        }
        subs.push(sub);
    }
    subs
}

fn sub_agent(properties: SubAgentProperties, node: &Node, context: &mut Context<'_, '_>) -> Option<SubAgentRef> {
    let SubAgentProperties { agent_id: Id(agent_id), description, name, input_schema } = properties;
    let at = node.span_at(&[PathStep::Key("agentId")]);
    context.agent(&agent_id, at)?;
    let input_schema = input_schema.map(Value::Object);
    if let Some(Err(error)) = input_schema.as_ref().map(Schema::new) {
        let at = node.span_at(&[PathStep::Key("inputSchema")]);
        context.report.error(
            at,
            match error {
                SchemaError::Invalid { message, .. } => format!("this is not a JSON Schema: {message}"),
                error => error.to_string(),
            },
            None,
        );
        return None;
    }
    let description = description.map_or_else(|| format!("Delegate task to the {agent_id} agent"), |Text(text)| text);
    let name = name.map_or_else(|| agent_id.clone(), |ToolName(name)| name);
    Some(SubAgentRef { agent_id, name, description, input_schema })
}

/// Returns the sub-agents that an agent refers to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    tools::list_references(agent, "agents", "agentId", EntryKind::Agent)
}

/// Reports sub-agents that form a cycle or are nested too deeply.
pub(crate) fn check(agents: &IndexMap<String, Agent>, context: &mut Context<'_, '_>) {
    for (id, _) in agents.iter().filter(|(_, agent)| !agent.agents.is_empty()) {
        let (message, help) = match depth_below(agents, &mut vec![id]) {
            Err(circle) if circle.first() == circle.last() => {
                let help = "an agent cannot hand a task to itself".to_owned();
                (format!("these agents go round in a circle: {}", circle.join(" ▸ ")), Some(help))
            }
            Ok(depth) if depth > MAX_DEPTH => {
                (format!("agents below agents, {depth} deep; {MAX_DEPTH} is the most"), None)
            }
            // A cycle among its sub-agents is reported for one of them.
            Ok(_) | Err(_) => continue,
        };
        let list = context.agents.get(id.as_str()).and_then(|node| node.get("agents"));
        if let Some(at) = list.map(|entry| entry.value.at) {
            context.report.error(at, message, help);
        }
    }
}

/// Returns the number of levels below the last agent of the path, or the path of a cycle.
fn depth_below<'a>(agents: &'a IndexMap<String, Agent>, path: &mut Vec<&'a str>) -> Result<usize, Vec<&'a str>> {
    let Some(agent) = path.last().and_then(|id| agents.get(*id)) else { return Ok(0) };
    let mut most = 0;
    for sub in &agent.agents {
        let is_circle = path.contains(&sub.agent_id.as_str());
        path.push(&sub.agent_id);
        if is_circle {
            return Err(path.clone());
        }
        most = most.max(1 + depth_below(agents, path)?);
        path.pop();
    }
    Ok(most)
}
