//! What the model thought, folded away.

use crate::erase::{Erase, flag, text};
use crate::icons::{Icon, Shape};
use crate::markdown::{Document, DocumentView};
use leptos::prelude::*;

/// A reasoning part.
#[component]
pub(super) fn Reasoning(
    /// Its text.
    document: Document,
    /// Whether it is still being written.
    open: ArcRwSignal<bool>,
) -> impl IntoView {
    let label = {
        let open = open.clone();
        text(move || if open.get() { "Thinking…" } else { "Thought" }.to_owned())
    };
    view! {
        <details class="cw-reasoning" class:cw-reasoning-open=flag(move || open.get())>
            <summary>
                <span class="cw-reasoning-label">{label}</span>
                <span class="cw-chevron"><Icon of=Shape::Chevron /></span>
            </summary>
            <div class="cw-reasoning-text"><DocumentView document /></div>
        </details>
    }
    .erase()
}
