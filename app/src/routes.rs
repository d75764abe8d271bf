//! The routes of the app.

use crate::address::{Address, Route, route};
use crate::blocks::RustBlockType;
use crate::pages::{MissingPage, PageRoute, RustPage, RustParts};
use crate::prelude::*;
use crate::title::DocumentTitle;

/// The app: `/` is the config's first page, `/{page}` is the page with that id.
#[component]
pub fn App(
    /// The pages whose content is written in Rust.
    #[prop(optional)]
    pages: &'static [RustPage],
    /// The types of blocks that the program adds.
    #[prop(optional)]
    blocks: &'static [RustBlockType],
) -> impl IntoView {
    #[cfg(feature = "ssr")]
    leptos_meta::provide_meta_context();
    provide_context(RustParts { pages, blocks });
    #[cfg(feature = "ssr")]
    crate::shell::set_content_security_policy();
    let address = Address::new();
    provide_context(address);
    let target = Memo::new(move |_| route(&address.path()));
    let is_page = Memo::new(move |_| target.with(|target| *target != Route::NotAPage));
    let page = move || match target.get() {
        Route::Page(id) | Route::Embedded(id, _) => Some(id),
        Route::FirstPage | Route::NotAPage => None,
    };
    // The app never navigates between a page and an embedded chat.
    let embedded = target.with_untracked(|target| match target {
        Route::Embedded(_, agent) => Some(agent.clone()),
        _ => None,
    });
    let content = move || {
        if is_page.get() {
            view! { <PageRoute id=Signal::derive(page) embedded=embedded.clone() /> }.into_any()
        } else {
            view! { <MissingPage /> }.into_any()
        }
    };
    view! {
        <DocumentTitle text="Chatwright".to_owned() />
        {content}
    }
}
