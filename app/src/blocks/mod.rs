//! One component for each block type of the config. They are ordinary Leptos components: a page in
//! Rust uses them as they are, below [`crate::pages::provide_page`].

pub mod added;
pub mod alert;
pub mod box_block;
pub mod button;
pub mod card;
pub mod check_input;
pub(crate) mod chunk_tables;
pub mod columns;
pub mod control;
pub mod field;
mod input;
mod lazy;
pub mod line_input;
pub mod multi_select;
pub mod select;
pub mod table;
pub mod tabs;
pub mod text_area;
pub mod title;

use chunk_tables::{BLOCKS, INPUTS};

pub use added::{BlockParts, RustBlock, RustBlockType};
pub use alert::Alert;
pub use box_block::BoxBlock;
pub use button::Button;
pub use card::Card;
pub use check_input::{Checkbox, Switch};
pub use columns::Columns;
pub use line_input::{DatePicker, NumberInput, TextInput};
pub use multi_select::MultiSelect;
pub use select::Select;
pub use table::Table;
pub use tabs::{Tab, Tabs};
pub use text_area::TextArea;
pub use title::Title;

use crate::actions::{BlockEvents, ClientTools};
use crate::agent_chat::AgentChat;
use crate::agent_conversations::{AgentConversations, ORGANIZING};
use crate::libraries::LIBRARIES;
use crate::markdown::MARKDOWN;
use crate::pages::current_page::CurrentPage;
use crate::prelude::*;
use crate::properties::Properties;
use crate::scope::OperatorScope;
use crate::texts::{Locale, with_locale};
use crate::workflows::WORKFLOWS;
use serde_json::Value;
use wire::page::{
    self, AgentChatProperties, AgentConversationsProperties, BlockType, ColumnsProperties, ItemListProperties,
    MarkdownProperties, shared_fields,
};

/// Renders blocks in order.
#[component]
pub fn Blocks(
    /// The blocks, in order.
    blocks: Vec<page::Block>,
) -> AnyView {
    block_views(blocks)
}

fn block_views(blocks: Vec<page::Block>) -> AnyView {
    blocks.into_iter().map(block).collect_view().into_any()
}

/// Renders a block while its `visible` condition holds. Returns `AnyView`, so that each component
/// is compiled once and blocks can be nested.
pub(crate) fn block(mut own: page::Block) -> AnyView {
    if own.visible.is_null() {
        return component(own);
    }
    let (condition, scope) = (own.visible.take(), OperatorScope::for_page());
    // If the condition cannot be evaluated, the block is shown.
    let visible =
        Memo::new(move |_| scope.evaluate(&condition).map_or(true, |condition| operators::is_truthy(&condition)));
    (move || visible.get().then(|| component(own.clone()))).into_any()
}

fn component(own: page::Block) -> AnyView {
    let page::Block { id, kind, added, properties, visible: _, events, blocks } = own;
    let events = BlockEvents::from_config(events);
    match kind {
        BlockType::Columns => {
            return columns::columns_view(
                &ColumnsProperties::read(&properties),
                blocks.into_iter().map(block).collect(),
            );
        }
        BlockType::Tabs => {
            return BLOCKS.view(move |code| (code.tabs)(id.clone(), &properties, blocks.clone(), events.clone()));
        }
        BlockType::AgentConversations if properties.contains_key("items") => {
            let locale = properties.get("locale").and_then(Value::as_object).map(Locale::read);
            let properties = Properties::from_config(properties);
            return with_locale(locale.as_ref(), move || {
                ORGANIZING.view(move |code| (code.item_list)(properties, events.clone()))
            });
        }
        BlockType::AgentConversations => {
            let of_page = ItemListProperties::OF_STORED.iter().any(|key| properties.contains_key(*key));
            let own = of_page.then(|| Properties::from_config(properties.clone()));
            let properties = AgentConversationsProperties::read(&properties);
            return view! { <AgentConversations id properties events own /> }.into_any();
        }
        BlockType::AgentChat => {
            let mut properties = AgentChatProperties::read(&properties);
            let tools = ClientTools::from_config(std::mem::take(&mut properties.client_tools));
            let CurrentPage(page) = expect_context();
            let (page_id, fields) = page.with_value(|page| (page.id.clone(), shared_fields(page, &properties)));
            return view! { <AgentChat id page_id properties fields events tools /> }.into_any();
        }
        _ => {}
    }
    let properties = Properties::from_config(properties);
    match kind {
        BlockType::Box => view! { <div class="cw-box">{block_views(blocks)}</div> }.into_any(),
        BlockType::Card => card::card(id, properties, block_views(blocks)),
        BlockType::Title => view! { <Title properties /> }.into_any(),
        BlockType::Markdown => {
            let text = Signal::derive(move || properties.get::<MarkdownProperties>().content);
            MARKDOWN.view(move |markdown| (markdown.view)(text))
        }
        BlockType::TextInput
        | BlockType::TextArea
        | BlockType::NumberInput
        | BlockType::Select
        | BlockType::Switch
        | BlockType::Checkbox
        | BlockType::DatePicker => INPUTS.view(move |code| (code.input)(kind, id.clone(), properties, events.clone())),
        BlockType::MultiSelect | BlockType::Table | BlockType::Alert => {
            BLOCKS.view(move |code| (code.block)(kind, id.clone(), properties, events.clone()))
        }
        BlockType::WorkflowTasks | BlockType::WorkflowRuns => {
            WORKFLOWS.view(move |code| (code.block)(kind, id.clone(), properties))
        }
        BlockType::Libraries => LIBRARIES.view(move |code| (code.block)(id.clone(), properties)),
        BlockType::Added => added::view(&added, properties, BlockParts { id, events, children: block_views(blocks) }),
        BlockType::Button => view! { <Button id properties events /> }.into_any(),
        BlockType::Columns | BlockType::Tabs | BlockType::AgentChat | BlockType::AgentConversations => ().into_any(),
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::page_state::PageState;
    use serde_json::json;
    use wire::page::Page;

    /// Renders a block as the server does.
    fn html(json: Value) -> String {
        let page = serde_json::from_value::<Page>(json!({"id": "demo", "blocks": [json]})).unwrap();
        Owner::new().with(|| {
            provide_context(PageState::new(&page, Value::clone));
            // Removes the markers of dynamic content.
            block(page.blocks[0].clone()).to_html().replace("<!>", "")
        })
    }

    fn check(kind: &str, properties: Value, control: &str) {
        let html = html(json!({"id": "legal_name", "type": kind, "properties": properties}));
        assert!(
            html.contains(r#"<label for="field-legal_name" class="cw-label"><bdi>Legal name</bdi></label>"#),
            "{html}"
        );
        assert!(
            html.contains(r#"id="field-legal_name" name="legal_name" aria-describedby="field-legal_name-note""#),
            "{html}"
        );
        assert!(html.contains(control), "{html}");
    }

    #[test]
    fn server_renders_inputs_with_labels_and_values() {
        check("TextInput", json!({"initial": "Ada \"L\""}), r#"value="Ada &quot;L&quot;""#);
        check("NumberInput", json!({"initial": 2.5}), r#"value="2.5""#);
        check("DatePicker", json!({"initial": "2026-11-20"}), r#"value="2026-11-20""#);
        check("TextArea", json!({"initial": "1 < 2"}), ">1 &lt; 2</textarea>");
        check("Switch", json!({"initial": true}), "checked");
        let options = json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]);
        check(
            "Select",
            json!({"initial": "b", "options": options}),
            r#"<option value="b" selected dir="auto">B</option>"#,
        );
    }

    #[test]
    fn validation_rules_and_states_are_attributes() {
        let input = json!({"required": true, "disabled": {"_eq": [1, 1]}, "min": 1, "max": {"_state": "none"}});
        let html = html(json!({"id": "seats", "type": "NumberInput", "properties": input}));
        assert!(html.contains(r#"min="1""#) && !html.contains("max="), "{html}");
        assert!(html.contains(" required") && html.contains(" disabled"), "{html}");
        assert!(html.contains(r#"<span aria-hidden="true" class="cw-required">*</span>"#), "{html}");
    }

    #[test]
    fn multi_select_is_a_labelled_group() {
        let properties = json!({"options": ["a", {"value": "b", "label": "B"}], "initial": ["b"]});
        let html = html(json!({"id": "tags", "type": "MultiSelect", "properties": properties}));
        assert!(html.contains(r#"<span id="field-tags-label" class="cw-label"><bdi>Tags</bdi></span>"#), "{html}");
        assert!(html.contains(r#"role="group""#) && html.contains(r#"aria-labelledby="field-tags-label""#), "{html}");
        assert!(html.contains(r#"id="field-tags-1" name="tags" value="b" checked"#), "{html}");
        assert!(!html.contains(r#"value="a" checked"#), "{html}");
    }

    #[test]
    fn tabs_show_the_first_panel() {
        let html = html(json!({"id": "t", "type": "Tabs", "properties": {"titles": ["One", "Two"]}, "blocks": [
            {"id": "a", "type": "TextInput"}, {"id": "b", "type": "TextInput"},
        ]}));
        assert!(
            html.contains(r#"role="tab" id="tab-t-0" aria-controls="panel-t-0" aria-selected="true" tabindex="0""#),
            "{html}"
        );
        assert!(html.contains(r#"id="panel-t-1" aria-labelledby="tab-t-1" hidden"#), "{html}");
        assert!(html.contains(r#"id="field-b""#), "what is hidden keeps its value: {html}");
    }

    #[test]
    fn invisible_blocks_are_not_rendered() {
        let block = |visible: Value| {
            html(
                json!({"id": "a", "type": "Alert", "visible": visible, "properties": {"content": "Hi", "status": {"_if": {"test": 1, "then": "error"}}}}),
            )
        };
        assert!(block(json!({"_state": "nothing"})).is_empty());
        assert!(block(json!(false)).is_empty());
        let shown = block(json!({"_eq": [1, 1]}));
        assert!(shown.contains(r#"data-status="error""#) && shown.contains(">Hi</p>"), "{shown}");
    }

    #[test]
    fn card_is_labelled_by_its_title() {
        let card = html(json!({"id": "form", "type": "Card", "properties": {"title": "Intake"}}));
        assert!(card.contains(r#"role="group" aria-labelledby="card-form""#), "{card}");
        assert!(card.contains(r#"<h2 id="card-form" dir="auto" class="cw-card-title">Intake</h2>"#), "{card}");
    }

    #[test]
    fn columns_share_the_width() {
        let columns = html(json!({"id": "c", "type": "Columns", "properties": {"widths": [1, 2]}, "blocks": [
            {"id": "a", "type": "Title", "properties": {"title": "A"}},
            {"id": "b", "type": "Title", "properties": {"title": "B"}},
        ]}));
        assert!(
            columns.contains(r#"<div class="cw-column cw-share a3 b3 c3 d3"><h2 dir="auto" class="cw-title">A</h2>"#),
            "{columns}"
        );
        assert!(columns.contains("cw-column cw-share a6 b6 c6 d7"), "{columns}");
    }
}
