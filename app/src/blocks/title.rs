//! The block `Title`.

use crate::erase::{Erase, Erased, text};
use crate::prelude::*;
use crate::properties::Properties;

/// A heading.
#[component]
pub fn Title(
    /// `title`: its text.
    #[prop(into)]
    properties: Properties,
) -> Erased {
    view! { <h2 class="cw-title" dir="auto">{text(move || properties.text("title").unwrap_or_default())}</h2> }.erase()
}
