//! The block `Title`.

use leptos::prelude::*;
use wire::page::Titled;

/// A heading.
#[component]
pub fn Title(
    /// Its text.
    properties: Titled,
) -> impl IntoView {
    view! { <h2 class="cw-title">{properties.title}</h2> }
}
