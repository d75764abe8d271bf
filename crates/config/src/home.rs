//! The page at `/` that lists what the user may use, and the chat pages of agents without a page.

use crate::agent::Agent;
use crate::config::{Config, Home, Page};
use crate::section::is_reserved_segment;
use serde_json::{Value, json};
use wire::page::{AgentChatProperties, Block, BlockType, Events};

impl Page {
    /// Returns a page with a list of conversations and a chat with an agent.
    pub fn for_agent(id: &str, agent: &Agent) -> Self {
        let title = agent.title.as_ref().unwrap_or(&agent.id);
        let mut chat = json!({ "agentId": agent.id });
        if let Some(picture) = &agent.picture {
            chat["roles"] = json!({ "assistant": { "name": title, "avatar": picture } });
            chat["welcome"] = json!({ "icon": picture });
        }
        if agent.picture.is_some() || agent.description.is_some() {
            chat["welcome"]["title"] = title.as_str().into();
            chat["welcome"]["description"] = agent.description.as_deref().unwrap_or_default().into();
        }
        let block = |name: &str, kind, properties: Value| Block {
            id: name.to_owned(),
            kind,
            added: String::new(),
            properties: properties.as_object().cloned().unwrap_or_default(),
            visible: Value::Null,
            events: Events::default(),
            blocks: Vec::new(),
        };
        let definition = wire::page::Page {
            id: id.to_owned(),
            title: Some(title.clone()),
            events: Events::default(),
            blocks: vec![
                block("conversations", BlockType::AgentConversations, json!({})),
                block("chat", BlockType::AgentChat, chat),
            ],
        };
        Self { definition, auth: agent.auth.clone(), client_tools: Vec::new() }
    }
}

impl Config {
    /// Adds a page for each agent of the home page that has no chat on a page. Its id is that of the
    /// agent, with `-chat` if the address `/ID` is in use.
    pub fn add_agent_pages(&mut self) {
        let Some(home) = &self.home else { return };
        let pages = self.agents_without_page(home).filter_map(|agent| {
            let names = [agent.id.clone(), format!("{}-chat", agent.id)];
            let id = names
                .iter()
                .find(|id| !is_reserved_segment(id) && self.pages.iter().all(|page| page.definition.id != **id))?;
            Some(Page::for_agent(id, agent))
        });
        let pages: Vec<_> = pages.collect();
        self.pages.extend(pages);
    }

    fn agents_without_page<'a>(&'a self, home: &'a Home) -> impl Iterator<Item = &'a Agent> {
        let has_page = |agent: &Agent| self.pages.iter().any(|page| has_chat(&page.definition.blocks, &agent.id));
        let is_below =
            |agent: &Agent| self.agents.values().any(|one| one.agents.iter().any(|sub| sub.agent_id == agent.id));
        let is_wanted = move |agent: &Agent| match &home.agents {
            Some(ids) => ids.contains(&agent.id),
            None => !is_below(agent),
        };
        self.agents.values().filter(move |agent| is_wanted(agent) && !has_page(agent))
    }
}

/// Whether a chat with the agent is among these blocks or within them.
fn has_chat(blocks: &[Block], agent_id: &str) -> bool {
    blocks.iter().any(|block| {
        let is_chat =
            block.kind == BlockType::AgentChat && AgentChatProperties::read(&block.properties).agent_id == agent_id;
        is_chat || has_chat(&block.blocks, agent_id)
    })
}
