//! Sub-agents that a user can mention with `@` in a composer, if the config turns that on.

use auth::rights::Rights;
use chat::Caller;
use config::Config;
use serde_json::{Map, Value, json};
use wire::page::{Block, BlockType, Page};

/// The instructions for an agent whose sub-agents can be mentioned.
pub(in crate::compose) const INSTRUCTIONS: &str = "The user may write @ and the name of one of your tools that is an agent. Then call that agent with the \
     request, and answer with what it returns.";

/// Replaces the `mentions` switch of each composer by the list of sub-agents; returns whether there
/// are any.
pub(in crate::compose) fn resolve(page: &mut Page, config: &Config) -> bool {
    let mut found = false;
    for_each_sender(&mut page.blocks, &mut |agent_id, sender| {
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

/// Removes the mentions of agents that the caller may not use.
pub(in crate::compose) fn for_caller(page: &Page, caller: &Caller, rights: &Rights) -> Page {
    let mut page = page.clone();
    for_each_sender(&mut page.blocks, &mut |_, sender| {
        if let Some(Value::Array(names)) = sender.get_mut("mentions") {
            let id = |name: &Value| name.get("agentId").and_then(Value::as_str).unwrap_or_default().to_owned();
            names.retain(|name| rights.check_agent(caller, &id(name)).is_ok());
        }
    });
    page
}

/// Returns the agents of the chats in which sub-agents can be mentioned.
pub(in crate::compose) fn agents_with_mentions(config: &Config) -> Vec<String> {
    let mut ids = Vec::new();
    for page in &config.pages {
        let mut page = page.definition.clone();
        for_each_sender(&mut page.blocks, &mut |agent_id, sender| {
            if sender.get("mentions") == Some(&Value::Bool(true)) {
                ids.push(agent_id.to_owned());
            }
        });
    }
    ids
}

/// Visits the composers of all chats, with the id of the chat's agent.
fn for_each_sender(blocks: &mut [Block], see: &mut impl FnMut(&str, &mut Map<String, Value>)) {
    for block in blocks {
        let agent_id = block.properties.get("agentId").and_then(Value::as_str).unwrap_or_default().to_owned();
        if block.kind == BlockType::AgentChat
            && let Some(Value::Object(sender)) = block.properties.get_mut("sender")
        {
            see(&agent_id, sender);
        }
        for_each_sender(&mut block.blocks, see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_switch_is_replaced_by_names() {
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
        assert_eq!(agents_with_mentions(&config), ["lead", "clerk"]);
    }
}
