//! The block `Title`.

use crate::prelude::*;
use crate::properties::Properties;
use wire::page::TitleProperties;

/// A heading.
#[component]
pub fn Title(
    /// `title`: the text.
    #[prop(into)]
    properties: Properties,
) -> AnyView {
    view! { <h2 class="cw-title" dir="auto">{move || properties.get::<TitleProperties>().title}</h2> }.into_any()
}
