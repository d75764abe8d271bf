//! The block `Box`.

use crate::prelude::*;

/// Puts what stands in it below each other.
#[component]
pub fn BoxBlock(
    /// What stands in it.
    children: Children,
) -> AnyView {
    view! { <div class="cw-box">{children()}</div> }.into_any()
}
