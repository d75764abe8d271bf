//! The block `Title`.

use crate::prelude::*;
use crate::properties::Properties;

/// A heading.
#[component]
pub fn Title(
    /// `title`: the text.
    #[prop(into)]
    properties: Properties,
) -> AnyView {
    view! { <h2 class="cw-title" dir="auto">{move || properties.text("title").unwrap_or_default()}</h2> }.into_any()
}
