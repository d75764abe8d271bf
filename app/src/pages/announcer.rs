//! Announces changes of the page to screen readers.

use crate::page_state::use_page_state;
use crate::prelude::*;

/// A polite live region for changes of fields and for messages. The chat has its own for the
/// agent's answers.
#[component]
pub fn Announcer() -> AnyView {
    let state = use_page_state();
    view! {
        <p class="cw-visually-hidden" role="status">
            {move || state.announcement()}
        </p>
    }
    .into_any()
}
