//! Assigns a page's blocks to the regions of the page.

use crate::blocks::columns::shares;
use serde_json::Value;
use wire::page::{AgentChatProperties, Block, BlockType, ColumnsProperties, Display};

/// The blocks of a page, by region.
#[derive(Debug, Default, PartialEq)]
pub struct PageLayout {
    /// Lists of conversations.
    pub conversations: Region,
    /// Everything else, such as forms and texts.
    pub content: Region,
    /// Chats.
    pub chat: Region,
    /// Chats that are shown in drawers over the page.
    pub drawers: Region,
}

/// One region of a page.
#[derive(Debug, Default, PartialEq)]
pub struct Region {
    /// The blocks of the region, in the page's order.
    pub blocks: Vec<Block>,
    /// The region's share of the width in ten thousandths, if the page's columns set one: the sum of
    /// the columns that are in it.
    pub share: Option<u16>,
    /// The number of the last column that was added.
    column: Option<usize>,
}

/// A column with its share of the width.
#[derive(Clone, Copy)]
struct ColumnShare {
    /// Counts the columns of the page.
    number: usize,
    share: u16,
}

impl PageLayout {
    /// Assigns a page's blocks to regions. A `Box` or `Columns` around a chat or a list of
    /// conversations only places these beside the rest, which the regions do already: its blocks
    /// are assigned individually, and the width of a column goes to the region of its blocks.
    pub fn new(blocks: Vec<Block>) -> Self {
        let (mut layout, mut columns) = (Self::default(), 0);
        for block in blocks {
            layout.assign(block, None, &mut columns);
        }
        if layout.chat.is_empty() && layout.content.is_empty() {
            // The page has nothing but the list, which is then its content.
            std::mem::swap(&mut layout.content, &mut layout.conversations);
        }
        layout
    }

    /// Returns the first heading of the content, which names the region.
    pub fn content_title(&self) -> Option<&str> {
        self.content.blocks.iter().find_map(first_title)
    }

    /// `columns` counts the columns.
    fn assign(&mut self, block: Block, share: Option<ColumnShare>, columns: &mut usize) {
        if is_drawer(&block) {
            return self.drawers.push(block, None);
        }
        let chat = contains_block(&block, BlockType::AgentChat);
        let list = contains_block(&block, BlockType::AgentConversations);
        match block.kind {
            BlockType::Columns if chat || list => {
                let widths = ColumnsProperties::read(&block.properties).widths;
                let shares = shares(&widths, block.blocks.len());
                let given = !widths.is_empty();
                for (block, share) in block.blocks.into_iter().zip(shares) {
                    *columns += 1;
                    self.assign(block, given.then_some(ColumnShare { number: *columns, share }), columns);
                }
            }
            BlockType::Box if chat || list => {
                block.blocks.into_iter().for_each(|block| self.assign(block, share, columns));
            }
            _ if chat => self.chat.push(block, share),
            _ if list => self.conversations.push(block, share),
            _ => self.content.push(block, share),
        }
    }
}

impl Region {
    /// Returns whether the page has no blocks for this region.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn push(&mut self, block: Block, column: Option<ColumnShare>) {
        self.blocks.push(block);
        if let Some(ColumnShare { number, share }) = column
            && self.column.replace(number) != Some(number)
        {
            self.share = Some(self.share.unwrap_or_default().saturating_add(share));
        }
    }
}

/// Returns whether the block is a chat that is shown in a drawer.
fn is_drawer(block: &Block) -> bool {
    block.kind == BlockType::AgentChat && AgentChatProperties::read(&block.properties).display == Display::Drawer
}

fn contains_block(block: &Block, wanted: BlockType) -> bool {
    block.kind == wanted && !is_drawer(block) || block.blocks.iter().any(|block| contains_block(block, wanted))
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
        let layout = PageLayout::new(serde_json::from_value(blocks).unwrap());
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
    fn blocks_are_assigned_to_regions() {
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
    fn column_widths_apply_to_regions() {
        let note = json!({"id": "note", "type": "Title", "properties": {"title": "Hello"}});
        let columns = |widths: Value| {
            let blocks = json!([{"id": "columns", "type": "Columns", "properties": {"widths": widths}, "blocks": [list(), note, chat()]}]);
            let layout = PageLayout::new(serde_json::from_value(blocks).unwrap());
            (layout.conversations.share, layout.content.share, layout.chat.share)
        };
        assert_eq!(columns(json!([1, 2, 3])), (Some(1667), Some(3333), Some(5000)));
        assert_eq!(columns(json!([])), (None, None, None));
    }

    #[test]
    fn several_columns_of_a_region_share_their_sum() {
        let note = |id: &str| json!({"id": id, "type": "Title", "properties": {"title": id}});
        let boxed = json!({"id": "box", "type": "Box", "properties": {}, "blocks": [note("c"), note("d"), chat()]});
        let blocks = json!([{"id": "columns", "type": "Columns", "properties": {"widths": [1, 1, 1, 2]},
            "blocks": [list(), note("a"), note("b"), boxed]}]);
        let layout = PageLayout::new(serde_json::from_value(blocks).unwrap());
        let shares = (layout.conversations.share, layout.content.share, layout.chat.share);
        assert_eq!(shares, (Some(2000), Some(2000 + 2000 + 4000), Some(4000)));
    }

    #[test]
    fn first_heading_is_the_content_title() {
        let blocks = json!([
            {"id": "outer", "type": "Box", "properties": {}, "blocks": [
                {"id": "frame", "type": "Card", "properties": {}},
                {"id": "title", "type": "Title", "properties": {"title": "Intake"}},
            ]},
        ]);
        assert_eq!(PageLayout::new(serde_json::from_value(blocks).unwrap()).content_title(), Some("Intake"));
        assert_eq!(PageLayout::default().content_title(), None);
    }
}
