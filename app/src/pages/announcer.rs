//! Says to screen readers what changed on the page by itself.

use crate::page_state::use_page_state;
use crate::prelude::*;

/// A polite live region. The chat has its own for what the agent says; this one is for the fields.
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
