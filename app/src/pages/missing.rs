//! The page for addresses without a page.

use super::account::AccountMenu;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::title::DocumentTitle;

/// The 404 page, with a link to the start page.
#[component]
pub fn MissingPage() -> AnyView {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
    view! {
        <DocumentTitle text=t(Text::PageNotFound).to_owned() />
        <header class="cw-account-corner">
            <AccountMenu />
        </header>
        <main class="cw-message-page">
            <p class="cw-message-code" aria-hidden="true">
                "404"
            </p>
            <h1>{t(Text::NoPageHere)}</h1>
            <p>{t(Text::NoPageWhy)}</p>
            <p>
                <a class="cw-button cw-primary" href="/">
                    {t(Text::ToStartPage)}
                </a>
            </p>
        </main>
    }
    .into_any()
}
