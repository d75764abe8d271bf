//! A page of the config.

use super::MissingPage;
use crate::api::load_page;
use crate::blocks::Blocks;
use crate::chat_context::ChatContext;
use crate::page_state::PageState;
use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use wire::page::Page;

/// Loads the page of the address and shows it.
#[component]
pub fn PageRoute() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("page")));
    let page = Resource::new(move || id.get(), load_page);
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match page.await {
                    Ok(page) => Either::Left(view! { <PageView page /> }),
                    Err(_) => Either::Right(view! { <MissingPage /> }),
                }
            })}
        </Suspense>
    }
}

/// A page: its blocks, with the state that they share.
#[component]
fn PageView(page: Page) -> impl IntoView {
    provide_context(PageState::new(&page));
    provide_context(ChatContext::new());
    provide_context(StoredValue::new(page.clone()));
    view! { <main><Blocks blocks=page.blocks /></main> }
}
