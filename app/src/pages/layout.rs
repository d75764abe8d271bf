//! Which of a page's blocks go where.

use wire::page::{Block, BlockKind};

/// A page's blocks by the region that they stand in.
#[derive(Debug, Default, PartialEq)]
pub struct Layout {
    /// Lists of conversations.
    pub conversations: Vec<Block>,
    /// Everything else: forms, texts.
    pub content: Vec<Block>,
    /// Chats.
    pub chat: Vec<Block>,
}

impl Layout {
    /// Sorts a page's blocks. A `Box` or `Columns` around a chat or a list is the author's way to put them beside the rest, which
    /// the regions do: what stands in it is sorted by itself.
    pub fn new(blocks: Vec<Block>) -> Self {
        let mut layout = Self::default();
        layout.sort(blocks);
        layout
    }

    /// The first heading of the content, to name its region by.
    pub fn content_title(&self) -> Option<&str> {
        self.content.iter().find_map(first_title)
    }

    fn sort(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            let chat = holds(&block, |kind| matches!(kind, BlockKind::AgentChat(_)));
            let list = holds(&block, |kind| matches!(kind, BlockKind::AgentConversations(_)));
            match block.kind {
                BlockKind::Box(_) | BlockKind::Columns(_) if chat || list => self.sort(block.blocks),
                _ if chat => self.chat.push(block),
                _ if list => self.conversations.push(block),
                _ => self.content.push(block),
            }
        }
    }
}

fn holds(block: &Block, wanted: fn(&BlockKind) -> bool) -> bool {
    wanted(&block.kind) || block.blocks.iter().any(|block| holds(block, wanted))
}

fn first_title(block: &Block) -> Option<&str> {
    let own = match &block.kind {
        BlockKind::Card(titled) | BlockKind::Title(titled) => Some(titled.title.as_str()),
        _ => None,
    };
    own.filter(|title| !title.is_empty()).or_else(|| block.blocks.iter().find_map(first_title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(blocks: Value, conversations: &[&str], content: &[&str], chat: &[&str]) {
        let layout = Layout::new(serde_json::from_value(blocks).unwrap());
        let ids = |blocks: &[Block]| blocks.iter().map(|block| block.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&layout.conversations), conversations);
        assert_eq!(ids(&layout.content), content);
        assert_eq!(ids(&layout.chat), chat);
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
        check(json!([form, chat(), list()]), &["list"], &["form"], &["chat"]);
        let columns = json!({"id": "columns", "type": "Columns", "properties": {}, "blocks": [
            list(), {"id": "middle", "type": "Box", "properties": {}, "blocks": [form]}, chat(),
        ]});
        check(json!([columns]), &["list"], &["middle"], &["chat"]);
        let framed = json!({"id": "framed", "type": "Card", "properties": {"title": "Ask"}, "blocks": [chat()]});
        check(json!([framed]), &[], &[], &["framed"]);
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
