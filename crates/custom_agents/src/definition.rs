//! The definition of a custom agent, and what it becomes in the config.

use crate::section::CustomAgents;
use crate::store::CustomAgentRow;
use config::{AccessRule, Agent, Config};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::page::{Block, BlockType, Events, Page};

/// The prefix of the ids of custom agents and their pages.
pub const PREFIX: &str = "custom-";

/// A custom agent as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomAgent {
    /// The display name.
    pub name: String,
    /// The purpose of the agent.
    #[serde(default)]
    pub description: String,
    /// The id of the base agent.
    pub from: String,
    /// The instructions of the agent.
    pub instructions: String,
    /// The tools of the base agent that this one has, as named by [`selectable_tools`].
    #[serde(default)]
    pub tools: Vec<String>,
}

/// Returns the tools of an agent that a custom agent can have: endpoints by tool name, and names
/// for groups of tools such as `mcp:NAME`.
pub fn selectable_tools(agent: &Agent) -> Vec<String> {
    let endpoints = agent.tools.iter().map(|tool| tool.name.clone());
    let servers = agent.mcp.iter().map(|server| format!("mcp:{}", server.name));
    let remote = agent.remote_agents.iter().map(|remote| format!("remote:{}", remote.connection_id));
    let below = agent.agents.iter().map(|below| format!("agent:{}", below.name));
    let files = agent.file_system.is_some().then(|| "files".to_owned());
    let questions = agent.ask_user.then(|| "questions".to_owned());
    // A key that a capability brings is chosen as a whole, by its name.
    let capabilities = agent.sections.keys().map(str::to_owned);
    endpoints.chain(servers).chain(remote).chain(below).chain(files).chain(questions).chain(capabilities).collect()
}

/// Adds those custom agents to the config that its section `customAgents` allows, each with a page.
pub fn with_custom_agents(mut config: Config, rows: &[CustomAgentRow]) -> Config {
    let Some(allowed) = config.section::<CustomAgents>().cloned() else { return config };
    for row in rows {
        match parse_row(row, &config, &allowed) {
            Some((agent, custom)) => {
                config.pages.push(page(&agent.id, &custom, &allowed.auth));
                config.agents.insert(agent.id.clone(), agent);
            }
            None => tracing::warn!(
                agent = row.id,
                "skipped a custom agent: its definition is invalid, or the config no longer allows its base agent"
            ),
        }
    }
    config
}

fn parse_row(row: &CustomAgentRow, config: &Config, allowed: &CustomAgents) -> Option<(Agent, CustomAgent)> {
    let custom: CustomAgent = serde_json::from_value(row.definition.clone()).ok()?;
    let base = config.agents.get(&custom.from).filter(|base| allowed.from.contains(&base.id))?;
    let has = |choice: &str| custom.tools.iter().any(|tool| tool == choice);
    let mut agent = base.clone();
    agent.id = row.id.clone();
    agent.instructions = Some(Value::String(custom.instructions.clone()));
    agent.auth = allowed.auth.clone();
    agent.tools.retain(|tool| has(&tool.name));
    agent.mcp.retain(|server| has(&format!("mcp:{}", server.name)));
    agent.remote_agents.retain(|remote| has(&format!("remote:{}", remote.connection_id)));
    agent.agents.retain(|below| has(&format!("agent:{}", below.name)));
    agent.file_system = agent.file_system.filter(|_| has("files"));
    agent.ask_user &= has("questions");
    agent.sections.retain(has);
    Some((agent, custom))
}

/// Returns a page with a list of conversations and a chat.
fn page(id: &str, custom: &CustomAgent, auth: &AccessRule) -> config::Page {
    let block = |name: &str, kind, properties: Map<String, Value>| Block {
        id: name.to_owned(),
        kind,
        added: String::new(),
        properties,
        visible: Value::Null,
        events: Events::default(),
        blocks: Vec::new(),
    };
    let agent = Map::from_iter([("agentId".to_owned(), Value::from(id))]);
    let definition = Page {
        id: id.to_owned(),
        title: Some(custom.name.clone()),
        events: Events::default(),
        blocks: vec![
            block("conversations", BlockType::AgentConversations, Map::new()),
            block("chat", BlockType::AgentChat, agent),
        ],
    };
    config::Page { definition, auth: auth.clone(), client_tools: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};
    use serde_json::json;

    const CONFIG: &str = "
connections: [{ id: demo, type: Demo }, { id: files, type: Mcp, properties: { command: files } }]
api:
  - { id: read, description: Reads., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }
  - { id: write, description: Writes., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo, askUser: true, limits: { requests: 3 } }
    tools: [read, { endpointId: write, confirm: true }]
    mcp: [files]
  - { id: secret, type: Agent, connectionId: demo, properties: { model: demo } }
customAgents: { from: [helper], auth: { roles: [editor] } }
pages: [{ id: p }]
";

    fn load(text: &str) -> Config {
        let language = Language::new(&[SectionType::of::<CustomAgents>()], &[]);
        language.read_text(text).unwrap().0
    }

    fn config() -> Config {
        load(CONFIG)
    }

    fn row(id: &str, definition: Value) -> CustomAgentRow {
        CustomAgentRow { id: id.to_owned(), version: 1, definition, owner: String::new(), created_at: 0, updated_at: 0 }
    }

    #[test]
    fn custom_agent_cannot_exceed_its_base_agent() {
        assert_eq!(selectable_tools(&config().agents["helper"]), ["read", "write", "mcp:files", "questions"]);
        let definition = |from: &str, tools: &[&str]| json!({ "name": "Mine", "from": from, "instructions": "Be brief.", "tools": tools });
        let rows = [
            row("custom-a", definition("helper", &["write", "questions", "nothing"])),
            row("custom-b", definition("secret", &[])),
            row("custom-c", json!({ "name": "?" })),
        ];
        let made = with_custom_agents(config(), &rows);
        assert_eq!(made.agents.keys().collect::<Vec<_>>(), ["helper", "secret", "custom-a"]);
        let agent = &made.agents["custom-a"];
        assert_eq!(
            agent.tools.iter().map(|tool| (&*tool.name, tool.confirm.is_some())).collect::<Vec<_>>(),
            [("write", true)]
        );
        assert!(agent.ask_user && agent.mcp.is_empty());
        assert_eq!(
            (agent.settings.limits.requests, &agent.auth),
            (Some(3), &AccessRule::Roles(vec!["editor".to_owned()]))
        );
        let page = made.pages.last().unwrap();
        assert_eq!((page.definition.id.as_str(), &page.auth), ("custom-a", &agent.auth));
        // A config without `customAgents` ignores them.
        let none = load(
            CONFIG.lines().filter(|line| !line.starts_with("customAgents")).collect::<Vec<_>>().join("\n").as_str(),
        );
        assert_eq!(with_custom_agents(none, &rows).agents.len(), 2);
    }
}
