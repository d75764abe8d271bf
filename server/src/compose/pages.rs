//! The config's pages, as the UI and the agents look at them.

use app::context::PageSource;
use std::collections::HashMap;
use std::sync::Arc;
use wire::page::{AgentChatProperties, Block, BlockType, Page, SharedField, shared_fields};

/// All pages, with what their chats share.
pub(crate) struct Pages {
    first: Option<String>,
    by_id: HashMap<String, Arc<Page>>,
    shared: HashMap<(String, String), Vec<SharedField>>,
}

impl Pages {
    pub(crate) fn new(pages: Vec<Page>) -> Self {
        let first = pages.first().map(|page| page.id.clone());
        let mut shared = HashMap::new();
        for page in &pages {
            for chat in chats(&page.blocks) {
                let fields = shared_fields(page, &chat);
                shared.insert((page.id.clone(), chat.agent_id), fields);
            }
        }
        let by_id = pages.into_iter().map(|page| (page.id.clone(), Arc::new(page))).collect();
        Self { first, by_id, shared }
    }

    /// What the page declares for its chat with this agent; none when it has no such chat.
    pub(crate) fn shared_fields(&self, page_id: &str, agent_id: &str) -> Option<&[SharedField]> {
        self.shared.get(&(page_id.to_owned(), agent_id.to_owned())).map(Vec::as_slice)
    }
}

impl PageSource for Pages {
    fn page(&self, id: &str) -> Option<Arc<Page>> {
        self.by_id.get(id).cloned()
    }

    fn first(&self) -> Option<String> {
        self.first.clone()
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
