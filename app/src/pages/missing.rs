//! What is shown at an address that has no page.

use crate::erase::Erase;
use crate::title::DocumentTitle;
use leptos::prelude::*;

/// Says that nothing is here, with status 404 and a way home.
#[component]
pub fn MissingPage() -> impl IntoView {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
    view! {
        <DocumentTitle text="Page not found" />
        <main class="cw-message-page">
            <p class="cw-message-code" aria-hidden="true">
                "404"
            </p>
            <h1>"There is no page here"</h1>
            <p>"The address may be mistyped, or the page was removed from the configuration."</p>
            <p>
                <a class="cw-button cw-primary" href="/">
                    "Go to the start page"
                </a>
            </p>
        </main>
    }
    .erase()
}
