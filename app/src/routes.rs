//! What stands at which address.

use crate::address::{Address, page_of};
use crate::erase::{Erase, dynamic};
use crate::pages::{MissingPage, PageRoute};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};

/// The app: `/` is the config's first page, `/{page}` each page by its id.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    #[cfg(feature = "ssr")]
    crate::shell::protect();
    let address = Address::new();
    provide_context(address);
    let page = Memo::new(move |_| page_of(&address.path()));
    let is_page = Memo::new(move |_| page.with(Option::is_some));
    let content = dynamic(move || match is_page.get() {
        true => view! { <PageRoute id=Signal::derive(move || page.get().flatten()) /> }.erase(),
        false => view! { <MissingPage /> }.erase(),
    });
    view! {
        <Title text="Chatwright" />
        {content}
    }
}
