//! One component for each block that a config can name.

pub mod box_block;
pub mod card;
pub mod columns;
pub mod control;
pub mod date_picker;
pub mod field;
mod line_input;
pub mod number_input;
pub mod select;
pub mod switch;
pub mod text_area;
pub mod text_input;
pub mod title;

use crate::agent_chat::AgentChat;
use crate::agent_conversations::AgentConversations;
use crate::erase::Erase;
use crate::erase::Erased;
use crate::markdown::Markdown;
use crate::pages::CurrentPage;
use box_block::BoxBlock;
use card::Card;
use columns::Columns;
use date_picker::DatePicker;
use leptos::prelude::*;
use number_input::NumberInput;
use select::Select;
use switch::Switch;
use text_area::TextArea;
use text_input::TextInput;
use title::Title;
use wire::page::{Block, BlockKind, shared_fields};

/// Blocks, one after the other.
#[component]
pub fn Blocks(
    /// The blocks, in order.
    blocks: Vec<Block>,
) -> impl IntoView {
    blocks.into_iter().map(block).collect_view()
}

/// The block's component. Erased, so that each component is compiled once and blocks may nest.
pub(crate) fn block(block: Block) -> Erased {
    let Block { id, kind, blocks } = block;
    match kind {
        BlockKind::Box(_) => view! { <BoxBlock blocks /> }.erase(),
        BlockKind::Columns(properties) => view! { <Columns properties blocks /> }.erase(),
        BlockKind::Card(properties) => view! { <Card id properties blocks /> }.erase(),
        BlockKind::Title(properties) => view! { <Title properties /> }.erase(),
        BlockKind::Markdown(properties) => view! { <Markdown text=properties.content /> }.erase(),
        BlockKind::TextInput(input) => view! { <TextInput id input /> }.erase(),
        BlockKind::TextArea(input) => view! { <TextArea id input /> }.erase(),
        BlockKind::NumberInput(input) => view! { <NumberInput id input /> }.erase(),
        BlockKind::Select(input) => view! { <Select id input /> }.erase(),
        BlockKind::Switch(input) => view! { <Switch id input /> }.erase(),
        BlockKind::DatePicker(input) => view! { <DatePicker id input /> }.erase(),
        BlockKind::AgentConversations(properties) => view! { <AgentConversations id properties /> }.erase(),
        BlockKind::AgentChat(properties) => {
            let CurrentPage(page) = expect_context();
            let (page_id, fields) = page.with_value(|page| (page.id.clone(), shared_fields(page, &properties)));
            view! { <AgentChat page_id properties fields /> }.erase()
        }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::page_state::PageState;
    use serde_json::{Value, json};
    use wire::page::Page;

    /// A block as the server renders it.
    fn html(json: Value) -> String {
        let page = serde_json::from_value::<Page>(json!({"id": "demo", "blocks": [json]})).unwrap();
        Owner::new().with(|| {
            provide_context(PageState::new(&page));
            block(page.blocks[0].clone()).to_html()
        })
    }

    fn check(kind: &str, properties: Value, control: &str) {
        let html = html(json!({"id": "legal_name", "type": kind, "properties": properties}));
        assert!(html.contains(r#"<label for="field-legal_name" class="cw-label">Legal name</label>"#), "{html}");
        assert!(
            html.contains(r#"id="field-legal_name" name="legal_name" aria-describedby="field-legal_name-note""#),
            "{html}"
        );
        assert!(html.contains(control), "{html}");
    }

    #[test]
    fn inputs_are_labelled_and_hold_their_values_before_any_script() {
        check("TextInput", json!({"initial": "Ada \"L\""}), r#"value="Ada &quot;L&quot;""#);
        check("NumberInput", json!({"initial": 2.5}), r#"value="2.5""#);
        check("DatePicker", json!({"initial": "2026-11-20"}), r#"value="2026-11-20""#);
        check("TextArea", json!({"initial": "1 < 2"}), ">1 &lt; 2</textarea>");
        check("Switch", json!({"initial": true}), "checked");
        let options = json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]);
        check("Select", json!({"initial": "b", "options": options}), r#"<option value="b" selected>B</option>"#);
    }

    #[test]
    fn a_card_is_named_by_its_title() {
        let card = html(json!({"id": "form", "type": "Card", "properties": {"title": "Intake"}}));
        assert!(card.contains(r#"<section aria-labelledby="card-form""#), "{card}");
        assert!(card.contains(r#"<h2 id="card-form" class="cw-card-title">Intake</h2>"#), "{card}");
    }

    #[test]
    fn columns_share_the_width() {
        let columns = html(json!({"id": "c", "type": "Columns", "properties": {"widths": [1, 2]}, "blocks": [
            {"id": "a", "type": "Title", "properties": {"title": "A"}},
            {"id": "b", "type": "Title", "properties": {"title": "B"}},
        ]}));
        assert!(columns.contains(r#"<div class="cw-column cw-share-4"><h2 class="cw-title">A</h2>"#), "{columns}");
        assert!(columns.contains("cw-column cw-share-8"), "{columns}");
    }
}
