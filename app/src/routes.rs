//! The addresses.

use crate::pages::{MissingPage, PageRoute};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

/// The app: `/` is the config's first page, `/{page}` each page by its id.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    #[cfg(feature = "ssr")]
    crate::shell::protect();
    view! {
        <Title text="Chatwright" />
        <Router>
            // Async: the answer's status is known, and the selected conversation is in the document, before the first byte.
            <Routes fallback=MissingPage>
                <Route path=path!("/:page?") view=PageRoute ssr=SsrMode::Async />
            </Routes>
        </Router>
    }
}
