//! Markdown as a view.

use leptos::prelude::*;

/// Text in Markdown.
#[component]
pub fn Markdown(
    /// The text; it may grow.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    view! { <div class="cw-markdown">{text}</div> }
}
