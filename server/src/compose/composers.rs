//! What capabilities add to the composers of chats, by the chat's agent.

use super::model_choice;
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
        let mut added = agent.map(|agent| capabilities.composer(agent)).unwrap_or_default();
        let models = agent.and_then(|agent| model_choice::composer(config, agent));
        added.extend(models.map(|models| ("models".to_owned(), models)));
        if added.is_empty() {
            continue;
        }
        let sender = block.properties.entry("sender").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(sender) = sender {
            sender.extend(added);
        }
    }
}
