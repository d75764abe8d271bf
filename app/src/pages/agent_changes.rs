//! The bar below the form that lists what an agent changed, and what was entered in another
//! conversation: the user keeps it or undoes it all at once.

use super::drawer::CONTENT_DRAWER;
use crate::agent_chat::chunk_tables::TOOLS;
use crate::blocks::control::focus;
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use crate::texts::{Text, t};

/// The number of changes from which the bar is shown; for fewer, the notices at the inputs are
/// enough, unless a change is in no input.
const MIN_CHANGES_FOR_BAR: usize = 2;

/// Shows the bar at the lower edge of the form. It overlays the content, so that the layout does
/// not shift. Screen readers announce what appears in it.
#[component]
pub fn AgentChanges() -> AnyView {
    let state = use_page_state();
    let count = Memo::new(move |_| state.agent_writes().len());
    let is_worth_it = Memo::new(move |_| count.get() >= MIN_CHANGES_FOR_BAR || state.has_agent_write_without_input());
    let bar = move || is_worth_it.get().then(|| TOOLS.view(|code| (code.changes)()));
    let is_left_over = Memo::new(move |_| !state.leftover_entries().is_empty());
    let entries = move || is_left_over.get().then(|| TOOLS.view(|code| (code.left_over)()));
    view! {
        <div class="cw-agent-changes" aria-live="polite">
            {bar}
            {entries}
        </div>
    }
    .into_any()
}

/// Renders the bar with the number of changes and the buttons to undo or keep all.
pub(crate) fn changes_bar() -> AnyView {
    let state = use_page_state();
    // The focused button disappears with the bar.
    let end = move |change: fn(&PageState)| {
        change(&state);
        focus(CONTENT_DRAWER);
    };
    let number = move || match state.agent_writes().len() {
        1 => t(Text::OneChangeByAgent).to_owned(),
        number => format!("{number}{}", t(Text::CountChangesByAgent)),
    };
    view! {
        <div class="cw-agent-changes-bar" role="group" aria-label=t(Text::ChangesByAgent)>
            <span>{number}</span>
            <button type="button" class="cw-link" on:click=move |_| end(PageState::undo_all)>
                {t(Text::UndoAll)}
            </button>
            <button type="button" class="cw-link" on:click=move |_| end(PageState::accept_all)>
                {t(Text::Keep)}
            </button>
        </div>
    }
    .into_any()
}

/// Renders the bar that asks whether the user's earlier entries are kept in the new conversation.
pub(crate) fn leftover_bar() -> AnyView {
    let state = use_page_state();
    // The focused button disappears with the bar.
    let end = move |stay: bool| {
        state.resolve_leftover_entries(stay);
        focus(CONTENT_DRAWER);
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
