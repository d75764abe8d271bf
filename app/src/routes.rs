//! What stands at which address.

use crate::address::{Address, Target, target};
use crate::pages::{MissingPage, PageRoute, RustPage, RustPages};
use crate::prelude::*;
use crate::title::DocumentTitle;

/// The app: `/` is the config's first page, `/{page}` each page by its id.
#[component]
pub fn App(
    /// Pages whose content is written in Rust.
    #[prop(optional)]
    pages: &'static [RustPage],
) -> impl IntoView {
    #[cfg(feature = "ssr")]
    leptos_meta::provide_meta_context();
    provide_context(RustPages(pages));
    #[cfg(feature = "ssr")]
    crate::shell::protect();
    let address = Address::new();
    provide_context(address);
    let target = Memo::new(move |_| target(&address.path()));
    let is_page = Memo::new(move |_| target.with(|target| *target != Target::Elsewhere));
    let page = move || match target.get() {
        Target::Page(id) | Target::Embedded(id, _) => Some(id),
        Target::FirstPage | Target::Elsewhere => None,
    };
    // The app never goes from a page into a frame, nor back.
    let embedded = target.with_untracked(|target| match target {
        Target::Embedded(_, agent) => Some(agent.clone()),
        _ => None,
    });
    let content = move || match is_page.get() {
        true => view! { <PageRoute id=Signal::derive(page) embedded=embedded.clone() /> }.into_any(),
        false => view! { <MissingPage /> }.into_any(),
    };
    view! {
        <DocumentTitle text="Chatwright".to_owned() />
        {content}
    }
}
