//! The block `Box`.

use crate::erase::{Erase, Erased};
use crate::prelude::*;

/// Puts what stands in it below each other.
#[component]
pub fn BoxBlock(
    /// What stands in it.
    children: Children,
) -> Erased {
    view! { <div class="cw-box">{children()}</div> }.erase()
}
