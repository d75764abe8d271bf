//! The layout of the console's pages.

use super::Admin;
use crate::html::document;
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use std::sync::Arc;
use wire::UserError;

/// An entry of the console's menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// The path of the page.
    pub path: &'static str,
    /// The text of the link.
    pub title: &'static str,
}

/// The menu of the console: an extension of its requests.
#[derive(Clone, Debug, Default)]
pub struct Menu(Arc<[MenuEntry]>);

impl FromIterator<MenuEntry> for Menu {
    fn from_iter<I: IntoIterator<Item = MenuEntry>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// Renders a page with the menu, in which the entry with the path `tab` is marked as the current
/// one.
pub fn page(admin: &Admin, tab: &str, status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    let who = admin.caller.name.clone().unwrap_or_else(|| "Owner".to_owned());
    let link = |entry: &MenuEntry| {
        let current = (entry.path == tab).then_some("page");
        view! { <li><a href=entry.path aria-current=current>{entry.title}</a></li> }
    };
    let body = view! {
        <a class="cw-admin-skip" href="#content">"Skip to content"</a>
        <header class="cw-admin-bar">
            <strong>"Admin console"</strong>
            <nav aria-label="Admin console">
                <ul class="cw-admin-menu">{admin.menu.0.iter().map(link).collect_view()}</ul>
            </nav>
            <span class="cw-admin-who" title=who.clone()>{who.clone()}</span>
            <a href="/">"Back to the app"</a>
        </header>
        <main class="cw-admin" id="content" tabindex="-1">
            <h1>{title.to_owned()}</h1>
            {content}
        </main>
    };
    document(status, title, body)
}

/// Renders an error, with a link to the overview.
pub(super) fn error_page(error: &UserError) -> Response {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = view! {
        <main class="cw-account-page">
            <div class="cw-account-sheet">
                <h1>"Something went wrong"</h1>
                <p class="cw-account-problem" role="alert">{error.message.clone()}</p>
                <a class="cw-button" href="/admin">"Go to the overview"</a>
            </div>
        </main>
    };
    document(status, "Something went wrong", body)
}
