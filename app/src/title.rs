//! The title of the browser's tab.

use crate::prelude::*;

/// Gives the tab a title while it stands on the page: in the rendered page, and in the browser whenever it changes.
#[cfg(feature = "ssr")]
#[component]
pub fn DocumentTitle(
    /// The title.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    // The head is written last, when the page that gave the title may be gone: one that could not be shown is.
    let first = text.get_untracked();
    let text = move || text.try_get().unwrap_or_else(|| first.clone());
    // A place in the page like the one that the browser's half has.
    (view! { <leptos_meta::Title text /> }, ())
}

/// Gives the tab a title. One line instead of the crate that collects the tags of a head, which
/// the browser does not need.
#[cfg(not(feature = "ssr"))]
#[component]
pub fn DocumentTitle(
    /// The title.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    Effect::new(move |_| document().set_title(&text.get()));
}
