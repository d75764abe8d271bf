//! Which of a page's blocks go where.

use crate::blocks::columns::shares;
use serde_json::Value;
use wire::page::{AgentChatProperties, Block, BlockType, ColumnsProperties, Display};

/// A page's blocks by the region that they stand in.
#[derive(Debug, Default, PartialEq)]
pub struct Layout {
    /// Lists of conversations.
    pub conversations: Region,
    /// Everything else: forms, texts.
    pub content: Region,
    /// Chats.
    pub chat: Region,
    /// Chats in drawers.
    pub drawers: Region,
}

/// One region of a page.
#[derive(Debug, Default, PartialEq)]
pub struct Region {
    /// What stands in it, in the page's order.
    pub blocks: Vec<Block>,
    /// Its part of the width in twelfths, where the page's columns say so.
    pub share: Option<u8>,
}

impl Layout {
    /// Sorts a page's blocks. A `Box` or `Columns` around a chat or a list is the author's way to put them beside the rest, which
    /// the regions do: what stands in it is sorted by itself, and a column's width goes to its region.
    pub fn new(blocks: Vec<Block>) -> Self {
        let mut layout = Self::default();
        for block in blocks {
            layout.sort(block, None);
        }
        if layout.chat.is_empty() && layout.content.is_empty() {
            // A page that is nothing but the list.
            std::mem::swap(&mut layout.content, &mut layout.conversations);
        }
        layout
    }

    /// The first heading of the content, to name its region by.
    pub fn content_title(&self) -> Option<&str> {
        self.content.blocks.iter().find_map(first_title)
    }

    fn sort(&mut self, block: Block, share: Option<u8>) {
        if is_drawer(&block) {
            return self.drawers.push(block, None);
        }
        let chat = holds(&block, BlockType::AgentChat);
        let list = holds(&block, BlockType::AgentConversations);
        match block.kind {
            BlockType::Columns if chat || list => {
                let widths = ColumnsProperties::read(&block.properties).widths;
                let shares = shares(&widths, block.blocks.len());
                let given = !widths.is_empty();
                for (block, share) in block.blocks.into_iter().zip(shares) {
                    self.sort(block, given.then_some(share));
                }
            }
            BlockType::Box if chat || list => block.blocks.into_iter().for_each(|block| self.sort(block, share)),
            _ if chat => self.chat.push(block, share),
            _ if list => self.conversations.push(block, share),
            _ => self.content.push(block, share),
        }
    }
}

impl Region {
    /// Whether the page has nothing for it.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn push(&mut self, block: Block, share: Option<u8>) {
        self.blocks.push(block);
        self.share = self.share.or(share);
    }
}

/// Whether it is a chat that stands over the page.
fn is_drawer(block: &Block) -> bool {
    block.kind == BlockType::AgentChat && AgentChatProperties::read(&block.properties).display == Display::Drawer
}

fn holds(block: &Block, wanted: BlockType) -> bool {
    block.kind == wanted && !is_drawer(block) || block.blocks.iter().any(|block| holds(block, wanted))
}

fn first_title(block: &Block) -> Option<&str> {
    let own = match block.kind {
        BlockType::Card | BlockType::Title => block.properties.get("title").and_then(Value::as_str),
        _ => None,
    };
    own.filter(|title| !title.is_empty()).or_else(|| block.blocks.iter().find_map(first_title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(blocks: Value, conversations: &[&str], content: &[&str], chat: &[&str]) {
        let layout = Layout::new(serde_json::from_value(blocks).unwrap());
        let ids = |blocks: &[Block]| blocks.iter().map(|block| block.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&layout.conversations.blocks), conversations);
        assert_eq!(ids(&layout.content.blocks), content);
        assert_eq!(ids(&layout.chat.blocks), chat);
    }

    fn chat() -> Value {
        json!({"id": "chat", "type": "AgentChat", "properties": {"agentId": "demo"}})
    }

    fn list() -> Value {
        json!({"id": "list", "type": "AgentConversations", "properties": {}})
    }

    #[test]
    fn blocks_go_to_their_regions() {
        let name = json!({"id": "name", "type": "TextInput", "properties": {}});
        let form = json!({"id": "form", "type": "Card", "properties": {"title": "Intake"}, "blocks": [name]});
        check(json!([chat()]), &[], &[], &["chat"]);
        check(json!([list()]), &[], &["list"], &[]);
        check(json!([form, chat(), list()]), &["list"], &["form"], &["chat"]);
        let columns = json!({"id": "columns", "type": "Columns", "properties": {}, "blocks": [
            list(), {"id": "middle", "type": "Box", "properties": {}, "blocks": [form]}, chat(),
        ]});
        check(json!([columns]), &["list"], &["middle"], &["chat"]);
        let mut drawer = chat();
        drawer["properties"]["display"] = "drawer".into();
        check(json!([form, drawer, list()]), &["list"], &["form"], &[]);
        let framed = json!({"id": "framed", "type": "Card", "properties": {"title": "Ask"}, "blocks": [chat()]});
        check(json!([framed]), &[], &[], &["framed"]);
    }

    #[test]
    fn a_columns_width_goes_to_its_region() {
        let note = json!({"id": "note", "type": "Title", "properties": {"title": "Hello"}});
        let columns = |widths: Value| {
            let blocks = json!([{"id": "columns", "type": "Columns", "properties": {"widths": widths}, "blocks": [list(), note, chat()]}]);
            let layout = Layout::new(serde_json::from_value(blocks).unwrap());
            (layout.conversations.share, layout.content.share, layout.chat.share)
        };
        assert_eq!(columns(json!([1, 2, 3])), (Some(2), Some(4), Some(6)));
        assert_eq!(columns(json!([])), (None, None, None));
    }

    #[test]
    fn the_first_heading_names_the_content() {
        let blocks = json!([
            {"id": "outer", "type": "Box", "properties": {}, "blocks": [
                {"id": "frame", "type": "Card", "properties": {}},
                {"id": "title", "type": "Title", "properties": {"title": "Intake"}},
            ]},
        ]);
        assert_eq!(Layout::new(serde_json::from_value(blocks).unwrap()).content_title(), Some("Intake"));
        assert_eq!(Layout::default().content_title(), None);
    }
}
