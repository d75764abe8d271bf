//! One component for each block that a config can name.

pub mod box_block;
pub mod card;
pub mod columns;
pub mod control;
pub mod date_picker;
pub mod field;
pub mod number_input;
pub mod select;
pub mod switch;
pub mod text_area;
pub mod text_input;
pub mod title;

use crate::agent_chat::AgentChat;
use crate::agent_conversations::AgentConversations;
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
pub(crate) fn block(block: Block) -> AnyView {
    let Block { id, kind, blocks } = block;
    match kind {
        BlockKind::Box(_) => view! { <BoxBlock blocks /> }.into_any(),
        BlockKind::Columns(properties) => view! { <Columns properties blocks /> }.into_any(),
        BlockKind::Card(properties) => view! { <Card id properties blocks /> }.into_any(),
        BlockKind::Title(properties) => view! { <Title properties /> }.into_any(),
        BlockKind::Markdown(properties) => view! { <Markdown text=properties.content /> }.into_any(),
        BlockKind::TextInput(input) => view! { <TextInput id input /> }.into_any(),
        BlockKind::TextArea(input) => view! { <TextArea id input /> }.into_any(),
        BlockKind::NumberInput(input) => view! { <NumberInput id input /> }.into_any(),
        BlockKind::Select(input) => view! { <Select id input /> }.into_any(),
        BlockKind::Switch(input) => view! { <Switch id input /> }.into_any(),
        BlockKind::DatePicker(input) => view! { <DatePicker id input /> }.into_any(),
        BlockKind::AgentConversations(properties) => view! { <AgentConversations id properties /> }.into_any(),
        BlockKind::AgentChat(properties) => {
            let CurrentPage(page) = expect_context();
            let (page_id, fields) = page.with_value(|page| (page.id.clone(), shared_fields(page, &properties)));
            view! { <AgentChat page_id properties fields /> }.into_any()
        }
    }
}
