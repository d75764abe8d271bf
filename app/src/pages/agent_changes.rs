//! What an agent changed in the form, and what is left in it of another conversation: to be kept or
//! taken out at once.

use super::drawer::CONTENT;
use crate::agent_chat::TOOLS;
use crate::blocks::control::focus;
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use crate::texts::{Text, t};

/// Below this many changes the line at the field is enough.
const WORTH_A_BAR: usize = 2;

/// A bar at the lower edge of the form, over what is there, so that nothing moves.
#[component]
pub fn AgentChanges() -> AnyView {
    let state = use_page_state();
    let count = Memo::new(move |_| state.agent_writes().len());
    let is_worth_it = Memo::new(move |_| count.get() >= WORTH_A_BAR);
    let bar = move || is_worth_it.get().then(|| TOOLS.view(|code| (code.changes)()));
    let is_left_over = Memo::new(move |_| !state.left_over().is_empty());
    let entries = move || is_left_over.get().then(|| TOOLS.view(|code| (code.left_over)()));
    view! {
        <div class="cw-agent-changes">
            {bar}
            {entries}
        </div>
    }
    .into_any()
}

/// The bar itself.
pub(crate) fn bar() -> AnyView {
    let state = use_page_state();
    // The button that had the focus vanishes with the bar.
    let end = move |change: fn(&PageState)| {
        change(&state);
        focus(CONTENT);
    };
    let number = move || state.agent_writes().len().to_string();
    view! {
        <div class="cw-agent-changes-bar" role="group" aria-label=t(Text::ChangesByAgent)>
            <span>{number} {t(Text::CountChangesByAgent)}</span>
            <button type="button" class="cw-link" on:click=move |_| end(PageState::undo_all)>
                {t(Text::UndoAll)}
            </button>
            <button type="button" class="cw-link" on:click=move |_| end(PageState::keep_all)>
                {t(Text::Keep)}
            </button>
        </div>
    }
    .into_any()
}

/// Asks whether what the person entered before goes into the new conversation.
pub(crate) fn left_over() -> AnyView {
    let state = use_page_state();
    // The button that had the focus vanishes with the bar.
    let end = move |stay: bool| {
        state.settle_entries(stay);
        focus(CONTENT);
    };
    view! {
        <div class="cw-agent-changes-bar" role="group" aria-label=t(Text::EntriesStillThere)>
            <span>{t(Text::EntriesStillThere)}</span>
            <button type="button" class="cw-link" on:click=move |_| end(false)>
                {t(Text::ClearEntries)}
            </button>
            <button type="button" class="cw-link" on:click=move |_| end(true)>
                {t(Text::Keep)}
            </button>
        </div>
    }
    .into_any()
}
