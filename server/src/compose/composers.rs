//! What capabilities add to the composers of chats, by the chat's agent.

use capability::Capabilities;
use config::Config;
use serde_json::{Map, Value};
use wire::page::{Block, BlockType};

/// Adds the properties to the composers of all chats.
pub(super) fn complete(blocks: &mut [Block], config: &Config, capabilities: &Capabilities) {
    for block in blocks {
        complete(&mut block.blocks, config, capabilities);
        let agent_id = block.properties.get("agentId").and_then(Value::as_str).unwrap_or_default();
        let agent = config.agents.get(agent_id).filter(|_| block.kind == BlockType::AgentChat);
        let added = agent.map(|agent| capabilities.composer(config, agent)).unwrap_or_default();
        if added.is_empty() {
            continue;
        }
        let sender = block.properties.entry("sender").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(sender) = sender {
            add(sender, added);
        }
    }
}

/// Adds properties. The items of a list follow those that are there.
fn add(sender: &mut Map<String, Value>, added: Map<String, Value>) {
    for (key, value) in added {
        match (sender.get_mut(&key), value) {
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => drop(sender.insert(key, value)),
        }
    }
}
