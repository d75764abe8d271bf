//! Parts that several pages share.

use crate::html::account_part;
use leptos::prelude::*;

/// Renders a long text, which is hidden until the reader opens it.
pub fn folded_text(title: &'static str, text: String) -> AnyView {
    view! {
        <details class="cw-admin-call">
            <summary>{title}</summary>
            <pre tabindex="0" aria-label=title>{text}</pre>
        </details>
    }
    .into_any()
}

/// Renders the section with the button that deletes the object of a page. `path` is the path of the page; the form is sent to
/// `/delete` below it. `note` says what the deletion means.
pub fn delete_section(path: &str, note: &'static str, button: &'static str) -> AnyView {
    let content = view! {
        <p class="cw-account-note">{note}</p>
        <form class="cw-admin-acts" method="post" action=format!("{path}/delete")>
            <button class="cw-button cw-danger">{button}</button>
        </form>
    };
    account_part("delete", "Delete", content)
}
