//! Messages of forms.

use leptos::prelude::*;

/// Renders an error, which screen readers announce at once.
pub fn error_message(text: Option<String>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-problem" role="alert">{text}</p> })
}

/// Renders a success message.
pub fn success_message(text: Option<&'static str>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-done" role="status">{text}</p> })
}
