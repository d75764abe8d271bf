//! The entries of pages in lists of pages.

use config::Config;
use wire::form::label_from_id;
use wire::page::{AgentChatProperties, Block, BlockType, Page, PageLink};

/// Describes a page by its title and its first chat: the agent's description and picture, or those of
/// the chat's welcome screen.
pub(super) fn link(page: &Page, config: &Config) -> PageLink {
    let chat = first_chat(&page.blocks).map(|block| AgentChatProperties::read(&block.properties));
    let agent = chat.as_ref().and_then(|chat| config.agents.get(&chat.agent_id));
    let welcome = chat.as_ref().and_then(|chat| chat.welcome.as_ref());
    let of_welcome = welcome.map(|welcome| welcome.description.clone()).filter(|text| !text.is_empty());
    PageLink {
        id: page.id.clone(),
        title: page.title.clone().unwrap_or_else(|| label_from_id(&page.id)),
        description: agent.and_then(|agent| agent.description.clone()).or(of_welcome),
        picture: agent
            .and_then(|agent| agent.picture.clone())
            .or_else(|| welcome.and_then(|welcome| welcome.icon.clone())),
        is_chat: chat.is_some(),
        agent_id: chat.map(|chat| chat.agent_id).filter(|id| !id.is_empty()),
    }
}

fn first_chat(blocks: &[Block]) -> Option<&Block> {
    blocks.iter().find_map(|block| match block.kind {
        BlockType::AgentChat => Some(block),
        _ => first_chat(&block.blocks),
    })
}
