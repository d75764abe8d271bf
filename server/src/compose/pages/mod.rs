//! The pages of the config, for the UI and for agents.

mod agent_run_tasks;
mod composers;
mod links;
pub(super) mod mentions;
pub(super) mod tools;
mod workflow_commands;
pub(super) mod workflow_pages;

use auth::rights::Rights;
use capability::Capabilities;
use chat::Caller;
use config::Config;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wire::page::{
    AgentChatProperties, Block, BlockType, Page, PageLink, SharedField, object_fields, shared_fields, shared_object,
};
use wire::{ErrorCode, UserError};
use workflows::Commands;

/// The most pages in a list: users may make and share any number of agents, each with a page.
const MAX_LINKS: usize = 500;

/// All pages, with their chats and access rules.
pub(crate) struct Pages {
    order: Vec<String>,
    by_id: HashMap<String, Arc<Page>>,
    chats: HashMap<String, Vec<PageChat>>,
    /// The pages with a block `WorkflowTasks`, in their order.
    with_tasks: Vec<String>,
    /// The pages with chats in which sub-agents can be mentioned or workflows be started, both as far as
    /// the caller may.
    by_caller: HashSet<String>,
    commands: Commands,
    /// The entries of the pages in lists, in their order.
    links: Vec<PageLink>,
    rights: Arc<Rights>,
}

/// A chat that a page declares.
pub(crate) struct PageChat {
    /// The id of its block.
    pub(crate) block_id: String,
    agent_id: String,
    /// The fields of its shared state.
    fields: Vec<SharedField>,
    /// Its properties, if its shared state is one operator, so that the fields depend on the value.
    object: Option<AgentChatProperties>,
}

impl PageChat {
    /// Returns the fields of a shared state with these values.
    pub(crate) fn fields(&self, values: &Map<String, Value>) -> Cow<'_, [SharedField]> {
        match &self.object {
            Some(properties) => object_fields(properties, values).into(),
            None => self.fields.as_slice().into(),
        }
    }
}

/// The chat from which a request comes.
pub(crate) enum ChatOrigin<'a> {
    /// The page declares no chat with this agent: it is written in Rust, or the client has its own
    /// chat.
    Undeclared,
    /// A chat of the page.
    Chat(&'a PageChat),
    /// One of several chats; the client does not name one.
    Ambiguous(Vec<&'a PageChat>),
}

impl Pages {
    pub(crate) fn new(config: &Config, rights: Arc<Rights>, capabilities: &Capabilities) -> Self {
        let mut pages: Vec<Page> = config.pages.iter().map(|page| page.definition.clone()).collect();
        pages.iter_mut().for_each(|page| composers::complete(&mut page.blocks, config, capabilities));
        let commands = Commands::new(config);
        let depends_on_caller =
            |page: &mut Page| mentions::resolve(page, config) | workflow_commands::has_commands(page, &commands);
        let by_caller = pages.iter_mut().filter_map(|page| depends_on_caller(page).then(|| page.id.clone())).collect();
        let order = pages.iter().map(|page| page.id.clone()).collect();
        let chats = pages.iter().map(|page| (page.id.clone(), chats(page, &page.blocks))).collect();
        let with_tasks = pages.iter().filter(|page| has_tasks(&page.blocks)).map(|page| page.id.clone()).collect();
        let links = pages.iter().map(|page| links::link(page, config)).collect();
        let by_id = pages.into_iter().map(|page| (page.id.clone(), Arc::new(page))).collect();
        Self { order, by_id, chats, with_tasks, by_caller, commands, links, rights }
    }

    /// Returns the page with this id; without an id, the first page that the caller may open.
    ///
    /// # Errors
    /// 401 and 404 by the access rules.
    pub(crate) fn page(&self, caller: &Caller, id: Option<&str>) -> Result<Arc<Page>, UserError> {
        let Some(id) = id else { return self.first_open(caller) };
        self.rights.check_page(caller, id)?;
        let page = self.by_id.get(id).cloned().ok_or_else(UserError::not_found)?;
        if !self.by_caller.contains(id) {
            return Ok(page);
        }
        let page = mentions::for_caller(&page, caller, &self.rights);
        Ok(Arc::new(workflow_commands::for_caller(page, caller, &self.commands)))
    }

    /// Returns the first page that the caller may open. If there is none, the error is 401 if
    /// signing in may help.
    fn first_open(&self, caller: &Caller) -> Result<Arc<Page>, UserError> {
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

    /// Returns the first page with a block `WorkflowTasks` that the caller may open.
    pub(crate) fn with_tasks(&self, caller: &Caller) -> Option<String> {
        self.with_tasks.iter().find(|id| self.rights.check_page(caller, id).is_ok()).cloned()
    }

    /// Returns the pages that the caller may open, for lists of them: at most [`MAX_LINKS`].
    pub(crate) fn links(&self, caller: &Caller) -> Vec<PageLink> {
        let open = self.links.iter().filter(|link| self.rights.check_page(caller, &link.id).is_ok());
        open.take(MAX_LINKS).cloned().collect()
    }

    /// Returns a page on which the caller may use this agent, preferably one with a chat for it.
    pub(crate) fn for_agent(&self, caller: &Caller, agent_id: &str) -> Option<&str> {
        let open = || self.order.iter().filter(|id| self.rights.check_page(caller, id).is_ok());
        let with_chat = open().find(|id| self.chats_with(id, agent_id).next().is_some());
        with_chat.or_else(|| open().next()).map(String::as_str)
    }

    /// Returns the chat of a page with this agent. A block id is needed only if the page has
    /// several chats with the agent.
    ///
    /// # Errors
    /// 422 for a block id that is not one of them.
    pub(crate) fn chat_origin(
        &self,
        page_id: &str,
        agent_id: &str,
        block_id: Option<&str>,
    ) -> Result<ChatOrigin<'_>, UserError> {
        let mut chats: Vec<_> = self.chats_with(page_id, agent_id).collect();
        let found = |id: &str| chats.iter().position(|chat| chat.block_id == id);
        match (block_id.map(found), chats.len()) {
            (_, 0) => Ok(ChatOrigin::Undeclared),
            (Some(Some(at)), _) => Ok(ChatOrigin::Chat(chats.swap_remove(at))),
            (Some(None), _) => {
                let message = "This page does not have this chat with the agent (any more). Reload the page.";
                Err(UserError::invalid("/blockId", message))
            }
            (None, 1) => Ok(ChatOrigin::Chat(chats.swap_remove(0))),
            (None, _) => Ok(ChatOrigin::Ambiguous(chats)),
        }
    }

    fn chats_with(&self, page_id: &str, agent_id: &str) -> impl Iterator<Item = &PageChat> {
        let chats = self.chats.get(page_id).map(Vec::as_slice).unwrap_or_default();
        chats.iter().filter(move |chat| chat.agent_id == agent_id)
    }
}

/// Collects the chats of blocks, in order.
/// Whether a block `WorkflowTasks` is among these blocks or within them.
fn has_tasks(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| block.kind == BlockType::WorkflowTasks || has_tasks(&block.blocks))
}

fn chats(page: &Page, blocks: &[Block]) -> Vec<PageChat> {
    let mut found = Vec::new();
    for block in blocks {
        if block.kind == BlockType::AgentChat {
            let properties = AgentChatProperties::read(&block.properties);
            let fields = shared_fields(page, &properties);
            let object = shared_object(&properties.shared_state).is_some().then(|| properties.clone());
            found.push(PageChat { block_id: block.id.clone(), agent_id: properties.agent_id, fields, object });
        }
        found.extend(chats(page, &block.blocks));
    }
    found
}
