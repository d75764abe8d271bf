//! One component for each block that a config can name.

use crate::agent_chat::AgentChat;
use leptos::prelude::*;
use wire::page::{Block, BlockKind, Page};

/// Blocks below each other.
#[component]
pub fn Blocks(
    /// The blocks, in order.
    blocks: Vec<Block>,
) -> impl IntoView {
    blocks.into_iter().map(render).collect_view()
}

fn render(block: Block) -> AnyView {
    let page = expect_context::<StoredValue<Page>>();
    match block.kind {
        BlockKind::AgentChat(properties) => {
            let (page_id, fields) = page.with_value(|page| (page.id.clone(), Vec::new()));
            view! { <AgentChat page_id properties fields /> }.into_any()
        }
        _ => ().into_any(),
    }
}
