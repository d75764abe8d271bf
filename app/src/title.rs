//! The title of the document.

use crate::prelude::*;

/// Sets the title of the document: in the rendered page, and in the browser whenever it changes.
#[cfg(feature = "ssr")]
#[component]
pub fn DocumentTitle(
    /// The title.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    // The head is written last, when the page's signals may be disposed: then the first title is
    // used.
    let first = text.get_untracked();
    let text = move || text.try_get().unwrap_or_else(|| first.clone());
    // The same node in the page as the browser's version renders, so that hydration matches.
    (view! { <leptos_meta::Title text /> }, ())
}

/// Sets the title of the document. One line instead of the crate `leptos_meta`, which the browser
/// does not need.
#[cfg(not(feature = "ssr"))]
#[component]
pub fn DocumentTitle(
    /// The title.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    Effect::new(move |_| document().set_title(&text.get()));
}
