//! The block `Box`.

use super::Blocks;
use leptos::prelude::*;
use wire::page::Block;

/// Puts its blocks below each other.
#[component]
pub fn BoxBlock(
    /// What stands in it.
    blocks: Vec<Block>,
) -> impl IntoView {
    view! {
        <div class="cw-box">
            <Blocks blocks />
        </div>
    }
}
