//! The layout of the console's pages.

use super::Admin;
use super::menu::menu_view;
use crate::html::{document, document_with_frames, error_message, live_document};
use crate::status_of;
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use wire::UserError;

/// Renders a page with the menu, in which the entry with the path `tab` is marked as the current
/// one.
pub fn page(admin: &Admin, tab: &str, status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    live_page(admin, tab, status, title, false, content)
}

/// Renders a page like [`page`]. While `is_live`, the browser loads it again every few seconds and
/// replaces the elements with the attribute `data-live` that have changed.
pub fn live_page(
    admin: &Admin,
    tab: &str,
    status: StatusCode,
    title: &str,
    is_live: bool,
    content: impl IntoView + 'static,
) -> Response {
    let body = body(admin, tab, title, content);
    if is_live { live_document(status, title, body) } else { document(status, title, body) }
}

/// Renders a page like [`page`], which may show other pages of this server in frames.
pub fn page_with_frames(
    admin: &Admin,
    tab: &str,
    status: StatusCode,
    title: &str,
    content: impl IntoView + 'static,
) -> Response {
    document_with_frames(status, title, body(admin, tab, title, content))
}

/// Renders the menu and the content.
fn body<V: IntoView + 'static>(admin: &Admin, tab: &str, title: &str, content: V) -> impl IntoView + use<V> {
    let who = admin.caller.name.clone().unwrap_or_else(|| "Owner".to_owned());
    let menu = menu_view(&admin.menu.entries(), admin.menu.counts(), tab);
    view! {
        <a class="cw-admin-skip" href="#content">"Skip to content"</a>
        <header class="cw-admin-bar">
            <strong>"Admin console"</strong>
            {menu}
            <span class="cw-admin-who" title=who.clone()>{who.clone()}</span>
            <a href="/">"Back to the app"</a>
        </header>
        <main class="cw-admin" id="content" tabindex="-1">
            <h1>{title.to_owned()}</h1>
            {content}
        </main>
    }
}

/// Renders an error, with a link to the overview.
pub(super) fn error_page(error: &UserError) -> Response {
    let status = status_of(error);
    let title = if status == StatusCode::NOT_FOUND { "Page not found" } else { "Something went wrong" };
    let body = view! {
        <main class="cw-account-page">
            <div class="cw-account-sheet">
                <h1>{title}</h1>
                {error_message(Some(error.message.clone()))}
                <a class="cw-button" href="/admin">"Go to the overview"</a>
            </div>
        </main>
    };
    document(status, title, body)
}
