//! The config's pages, as the UI and the agents look at them.

use super::mentions;
use crate::auth::rights::Rights;
use chat::Caller;
use config::Config;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wire::page::{AgentChatProperties, Block, BlockType, Page, SharedField, shared_fields};
use wire::{ErrorCode, UserError};

/// All pages, with what their chats share.
pub(crate) struct Pages {
    order: Vec<String>,
    by_id: HashMap<String, Arc<Page>>,
    shared: HashMap<(String, String), Vec<SharedField>>,
    /// Pages with chats in which agents can be named: not everybody may name each.
    naming: HashSet<String>,
    rights: Arc<Rights>,
}

impl Pages {
    pub(crate) fn new(config: &Config, rights: Arc<Rights>) -> Self {
        let mut pages: Vec<Page> = config.pages.iter().map(|page| page.definition.clone()).collect();
        let naming =
            pages.iter_mut().filter_map(|page| mentions::resolve(page, config).then(|| page.id.clone())).collect();
        let order = pages.iter().map(|page| page.id.clone()).collect();
        let mut shared = HashMap::new();
        for page in &pages {
            for chat in chats(&page.blocks) {
                let fields = shared_fields(page, &chat);
                shared.insert((page.id.clone(), chat.agent_id), fields);
            }
        }
        let by_id = pages.into_iter().map(|page| (page.id.clone(), Arc::new(page))).collect();
        Self { order, by_id, shared, naming, rights }
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
        let with_chat = open().find(|id| self.shared_fields(id, agent_id).is_some());
        with_chat.or_else(|| open().next()).map(String::as_str)
    }

    /// What the page declares for its chat with this agent; none when it has no such chat.
    pub(crate) fn shared_fields(&self, page_id: &str, agent_id: &str) -> Option<&[SharedField]> {
        self.shared.get(&(page_id.to_owned(), agent_id.to_owned())).map(Vec::as_slice)
    }
}

fn chats(blocks: &[Block]) -> Vec<AgentChatProperties> {
    let mut found = Vec::new();
    for block in blocks {
        if block.kind == BlockType::AgentChat {
            found.push(AgentChatProperties::read(&block.properties));
        }
        found.extend(chats(&block.blocks));
    }
    found
}
