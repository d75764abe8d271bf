//! Says to screen readers what changed on the page by itself.

use crate::erase::{Erase, Erased, text};
use crate::page_state::use_page_state;
use crate::prelude::*;

/// A polite live region. The chat has its own for what the agent says; this one is for the fields.
#[component]
pub fn Announcer() -> Erased {
    let state = use_page_state();
    view! {
        <p class="cw-visually-hidden" role="status">
            {text(move || state.announcement())}
        </p>
    }
    .erase()
}
