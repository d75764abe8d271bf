//! The block `Card`.

use super::Blocks;
use leptos::prelude::*;
use wire::page::{Block, Titled};

/// A framed group with a heading.
#[component]
pub fn Card(
    /// The block's id.
    id: String,
    /// Its heading; without one, a frame only.
    properties: Titled,
    /// What stands in it.
    blocks: Vec<Block>,
) -> impl IntoView {
    let heading_id = format!("card-{id}");
    let titled = !properties.title.is_empty();
    let labelled_by = titled.then(|| heading_id.clone());
    view! {
        <section class="cw-card" aria-labelledby=labelled_by>
            {titled.then(|| view! { <h2 class="cw-card-title" id=heading_id>{properties.title}</h2> })}
            <Blocks blocks />
        </section>
    }
}
