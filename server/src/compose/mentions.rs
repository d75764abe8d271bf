//! Agents that a user may name with `@` in a composer: those below the chat's agent, where the config switches that on.

use crate::auth::rights::Rights;
use chat::Caller;
use config::Config;
use serde_json::{Map, Value, json};
use wire::page::{Block, BlockType, Page};

/// What the agent is told that may be asked so.
pub(super) const INSTRUCTIONS: &str = "The user may write @ and the name of one of your tools that is an agent. Then he means that agent: hand it \
     what he asks of it, and answer with what it says.";

/// The page with the names in the place of the switch; whether there are any.
pub(super) fn resolve(page: &mut Page, config: &Config) -> bool {
    let mut found = false;
    each(&mut page.blocks, &mut |agent_id, sender| {
        let is_on = sender.remove("mentions") == Some(Value::Bool(true));
        let below = config.agents.get(agent_id).filter(|_| is_on).map(|agent| &agent.agents);
        let mention = |below: &config::SubAgentRef| json!({ "name": below.name, "description": below.description, "agentId": below.agent_id });
        let names: Vec<Value> = below.into_iter().flatten().map(mention).collect();
        found |= !names.is_empty();
        if !names.is_empty() {
            sender.insert("mentions".to_owned(), names.into());
        }
    });
    found
}

/// The page without those that this caller may not ask.
pub(super) fn for_caller(page: &Page, caller: &Caller, rights: &Rights) -> Page {
    let mut page = page.clone();
    each(&mut page.blocks, &mut |_, sender| {
        if let Some(Value::Array(names)) = sender.get_mut("mentions") {
            let id = |name: &Value| name.get("agentId").and_then(Value::as_str).unwrap_or_default().to_owned();
            names.retain(|name| rights.ask_agent(caller, &id(name)).is_ok());
        }
    });
    page
}

/// The agents of chats in which others can be named.
pub(super) fn naming(config: &Config) -> Vec<String> {
    let mut ids = Vec::new();
    for page in &config.pages {
        let mut page = page.definition.clone();
        each(&mut page.blocks, &mut |agent_id, sender| {
            if sender.get("mentions") == Some(&Value::Bool(true)) {
                ids.push(agent_id.to_owned());
            }
        });
    }
    ids
}

/// The composers of all chats, with the chat's agent.
fn each(blocks: &mut [Block], see: &mut impl FnMut(&str, &mut Map<String, Value>)) {
    for block in blocks {
        let agent_id = block.properties.get("agentId").and_then(Value::as_str).unwrap_or_default().to_owned();
        if block.kind == BlockType::AgentChat
            && let Some(Value::Object(sender)) = block.properties.get_mut("sender")
        {
            see(&agent_id, sender);
        }
        each(&mut block.blocks, see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_where_the_switch_was() {
        let text = "
connections: [{ id: demo, type: Demo }]
agents:
  - { id: lead, type: Agent, connectionId: demo, properties: { model: demo }, agents: [{ agentId: clerk, description: Looks things up }] }
  - { id: clerk, type: Agent, connectionId: demo, properties: { model: demo } }
pages:
  - id: p
    blocks:
      - { id: a, type: AgentChat, properties: { agentId: lead, sender: { mentions: true } } }
      - { id: b, type: AgentChat, properties: { agentId: clerk, sender: { mentions: true } } }
      - { id: c, type: AgentChat, properties: { agentId: lead, sender: { mentions: false } } }
";
        let (config, _) =
            config::load_embedded(&[("chatwright.yaml", text)], &std::collections::HashMap::new()).unwrap();
        let mut page = config.pages[0].definition.clone();
        assert!(resolve(&mut page, &config));
        let senders: Vec<_> = page.blocks.iter().map(|block| block.properties["sender"].clone()).collect();
        let names = json!([{ "name": "clerk", "description": "Looks things up", "agentId": "clerk" }]);
        assert_eq!(senders, [json!({ "mentions": names }), json!({}), json!({})]);
        assert_eq!(naming(&config), ["lead", "clerk"]);
    }
}
