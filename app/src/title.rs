//! The title of the browser's tab.

use crate::prelude::*;

/// Gives the tab a title while it stands on the page: in the rendered page, and whenever it comes to stand there in the browser.
#[cfg(feature = "ssr")]
#[component]
pub fn DocumentTitle(
    /// The title.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    // A place in the page like the one that the browser's half has.
    (view! { <leptos_meta::Title text /> }, ())
}

/// Gives the tab a title when it comes to stand on the page. One line instead of the crate that collects the tags of a head, which
/// the browser does not need.
#[cfg(not(feature = "ssr"))]
#[component]
pub fn DocumentTitle(
    /// The title.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    crate::erase::effect(move || document().set_title(&text));
}
