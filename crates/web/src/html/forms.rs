//! Forms of one button, and messages of forms.

use leptos::prelude::*;

/// Renders an error, which screen readers announce at once.
pub fn error_message(text: Option<String>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-problem" role="alert">{text}</p> })
}

/// Renders a success message.
pub fn success_message(text: Option<&'static str>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-done" role="status">{text}</p> })
}

/// Renders the button of a row, which sends a form to `path`. `label` describes it for screen
/// readers, since all rows have the same `text`.
pub fn row_button(path: String, text: &'static str, label: String) -> AnyView {
    view! {
        <form method="post" action=path>
            <button class="cw-button" aria-label=label>{text}</button>
        </form>
    }
    .into_any()
}

/// Returns the text of a `textarea` as its `inner_html`: Leptos does not escape the children of this
/// element, so a text with `</textarea>` would become markup.
pub fn text_area_content(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
