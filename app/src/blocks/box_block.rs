//! The block `Box`.

use crate::erase::Erase;
use leptos::prelude::*;

/// Puts what stands in it below each other.
#[component]
pub fn BoxBlock(
    /// What stands in it.
    children: Children,
) -> impl IntoView {
    view! { <div class="cw-box">{children()}</div> }.erase()
}
