//! The block `Title`.

use crate::erase::{Erase, text};
use crate::properties::Properties;
use leptos::prelude::*;

/// A heading.
#[component]
pub fn Title(
    /// `title`: its text.
    #[prop(into)]
    properties: Properties,
) -> impl IntoView {
    view! { <h2 class="cw-title" dir="auto">{text(move || properties.text("title").unwrap_or_default())}</h2> }.erase()
}
