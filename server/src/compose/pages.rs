//! The config's pages, as the UI and the agents look at them.

use super::mentions;
use crate::auth::rights::Rights;
use chat::Caller;
use config::Config;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wire::page::{AgentChatProperties, Block, BlockType, Page, SharedField, shared_fields};
use wire::{ErrorCode, UserError};

/// All pages, with their chats.
pub(crate) struct Pages {
    order: Vec<String>,
    by_id: HashMap<String, Arc<Page>>,
    chats: HashMap<String, Vec<PageChat>>,
    /// Pages with chats in which agents can be named: not everybody may name each.
    naming: HashSet<String>,
    rights: Arc<Rights>,
}

/// A chat that a page declares.
pub(crate) struct PageChat {
    /// The id of its block.
    pub(crate) block_id: String,
    agent_id: String,
    /// The keys of its shared state.
    pub(crate) fields: Vec<SharedField>,
}

/// The chat from which an agent is asked.
pub(crate) enum AskedFrom<'a> {
    /// The page declares no chat with this agent: it is written in Rust, or the client has its own.
    Undeclared,
    /// This one.
    Chat(&'a PageChat),
    /// One of several; the client does not say which.
    Ambiguous(Vec<&'a PageChat>),
}

impl Pages {
    pub(crate) fn new(config: &Config, rights: Arc<Rights>) -> Self {
        let mut pages: Vec<Page> = config.pages.iter().map(|page| page.definition.clone()).collect();
        let naming =
            pages.iter_mut().filter_map(|page| mentions::resolve(page, config).then(|| page.id.clone())).collect();
        let order = pages.iter().map(|page| page.id.clone()).collect();
        let chats = pages.iter().map(|page| (page.id.clone(), chats(page, &page.blocks))).collect();
        let by_id = pages.into_iter().map(|page| (page.id.clone(), Arc::new(page))).collect();
        Self { order, by_id, chats, naming, rights }
    }

    /// The page with this id; without one, the first that the caller may open.
    ///
    /// # Errors
    /// 401 and 404.
    pub(crate) fn page(&self, caller: &Caller, id: Option<&str>) -> Result<Arc<Page>, UserError> {
        let Some(id) = id else { return self.first(caller) };
        self.rights.open_page(caller, id)?;
        let page = self.by_id.get(id).cloned().ok_or_else(UserError::not_found)?;
        match self.naming.contains(id) {
            true => Ok(Arc::new(mentions::for_caller(&page, caller, &self.rights))),
            false => Ok(page),
        }
    }

    /// When he may open none: 401, if one is there for those who are signed in.
    fn first(&self, caller: &Caller) -> Result<Arc<Page>, UserError> {
        let mut refused = UserError::not_found();
        for id in &self.order {
            match self.page(caller, Some(id)) {
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => refused = error,
                page => return page,
            }
        }
        Err(refused)
    }

    /// A page on which the caller may ask this agent: one with a chat for it if there is one.
    pub(crate) fn for_agent(&self, caller: &Caller, agent_id: &str) -> Option<&str> {
        let open = || self.order.iter().filter(|id| self.rights.open_page(caller, id).is_ok());
        let with_chat = open().find(|id| self.chats_with(id, agent_id).next().is_some());
        with_chat.or_else(|| open().next()).map(String::as_str)
    }

    /// The chat of a page that asks this agent. A block id is needed only where the page has
    /// several chats with the agent.
    ///
    /// # Errors
    /// 422 for a block id that is not one of them.
    pub(crate) fn asked_from(
        &self,
        page_id: &str,
        agent_id: &str,
        block_id: Option<&str>,
    ) -> Result<AskedFrom<'_>, UserError> {
        let mut chats: Vec<_> = self.chats_with(page_id, agent_id).collect();
        let found = |id: &str| chats.iter().position(|chat| chat.block_id == id);
        match (block_id.map(found), chats.len()) {
            (_, 0) => Ok(AskedFrom::Undeclared),
            (Some(Some(at)), _) => Ok(AskedFrom::Chat(chats.swap_remove(at))),
            (Some(None), _) => {
                let message = "This page has no such chat with this agent (any more). Load the page again.";
                Err(UserError::invalid("/blockId", message))
            }
            (None, 1) => Ok(AskedFrom::Chat(chats.swap_remove(0))),
            (None, _) => Ok(AskedFrom::Ambiguous(chats)),
        }
    }

    fn chats_with(&self, page_id: &str, agent_id: &str) -> impl Iterator<Item = &PageChat> {
        let chats = self.chats.get(page_id).map(Vec::as_slice).unwrap_or_default();
        chats.iter().filter(move |chat| chat.agent_id == agent_id)
    }
}

/// The chats among blocks, in their order.
fn chats(page: &Page, blocks: &[Block]) -> Vec<PageChat> {
    let mut found = Vec::new();
    for block in blocks {
        if block.kind == BlockType::AgentChat {
            let properties = AgentChatProperties::read(&block.properties);
            let fields = shared_fields(page, &properties);
            found.push(PageChat { block_id: block.id.clone(), agent_id: properties.agent_id, fields });
        }
        found.extend(chats(page, &block.blocks));
    }
    found
}
