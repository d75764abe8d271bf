//! The block `Box`.

use crate::prelude::*;

/// Stacks its children vertically.
#[component]
pub fn BoxBlock(
    /// The content.
    children: Children,
) -> AnyView {
    view! { <div class="cw-box">{children()}</div> }.into_any()
}
