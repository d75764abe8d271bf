//! The commands with which users start workflows of a chat's agent: each composer gets those that the caller
//! may start.

use chat::Caller;
use serde_json::{Map, Value};
use wire::page::{Block, BlockType, Page};
use workflows::Commands;

/// Returns whether a page has a chat with commands, which depend on the caller.
pub(super) fn has_commands(page: &Page, commands: &Commands) -> bool {
    fn any(blocks: &[Block], commands: &Commands) -> bool {
        blocks.iter().any(|block| agent(block).is_some_and(|id| commands.has(id)) || any(&block.blocks, commands))
    }
    any(&page.blocks, commands)
}

/// Adds the commands of a caller to the composers of a page.
pub(super) fn for_caller(mut page: Page, caller: &Caller, commands: &Commands) -> Page {
    add(&mut page.blocks, caller, commands);
    page
}

fn add(blocks: &mut [Block], caller: &Caller, commands: &Commands) {
    for block in blocks {
        let offered = agent(block).map(|id| commands.of(id, caller)).unwrap_or_default();
        let sender = block.properties.get("sender").and_then(Value::as_object).cloned();
        if let (false, Ok(offered)) = (offered.is_empty(), serde_json::to_value(&offered)) {
            let mut sender: Map<_, _> = sender.unwrap_or_default();
            sender.insert("workflows".to_owned(), offered);
            block.properties.insert("sender".to_owned(), sender.into());
        }
        add(&mut block.blocks, caller, commands);
    }
}

/// Returns the agent of a chat.
fn agent(block: &Block) -> Option<&str> {
    if block.kind != BlockType::AgentChat {
        return None;
    }
    block.properties.get("agentId").and_then(Value::as_str)
}
