//! The actions on several conversations, and the undo of a deletion.

use super::actions::archive_change;
use super::chunk_table::ORGANIZING;
use super::list::{ConversationListState, use_conversations};
use super::move_dialog::open_move_dialog;
use crate::prelude::*;
use crate::texts::{self, Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::MouseEvent;

/// The toolbar while conversations are selected.
#[component]
pub fn SelectionBar() -> AnyView {
    let list = use_conversations();
    let on = Memo::new(move |_| list.selected.with(Option::is_some));
    (move || on.get().then(|| ORGANIZING.view(move |code| (code.selection_bar)(list)))).into_any()
}

/// Returns the toolbar for the selected conversations.
pub(super) fn selection_bar(list: ConversationListState) -> AnyView {
    let count = move || {
        texts::fill_count(Text::SelectedCount, list.selected.with(|chosen| chosen.as_ref().map_or(0, Vec::len)))
    };
    let button = |label: &'static str, icon: Shape, act: Box<dyn FnMut(MouseEvent)>| {
        view! {
            <button type="button" class="cw-icon-button" aria-label=label title=label on:click=act>
                <Icon of=icon />
            </button>
        }
        .into_any()
    };
    let take = move || {
        let ids = list.selected.get_untracked().unwrap_or_default();
        list.selected.set(None);
        ids
    };
    let away = move || !list.filter.with_untracked(|filter| filter.archived);
    let label = if away() { t(Text::ToArchive) } else { t(Text::OutOfArchive) };
    view! {
        <div class="cw-selection" role="toolbar" aria-label=t(Text::SelectedConversations)>
            <span role="status">{count}</span>
            {button(label, Shape::ARCHIVE, Box::new(move |_| list.change(take(), archive_change(away()))))}
            {button(
                t(Text::MoveToFolder),
                Shape::FOLDER,
                Box::new(move |_| open_move_dialog(list, list.selected.get_untracked().unwrap_or_default())),
            )}
            {button(t(Text::Delete), Shape::BIN, Box::new(move |_| list.delete(take())))}
            {button(t(Text::SelectNothing), Shape::CLOSE, Box::new(move |_| drop(take())))}
        </div>
    }
    .into_any()
}

/// The notice after a deletion, with a button to undo it.
#[component]
pub fn UndoNotice() -> AnyView {
    let list = use_conversations();
    let bar = move || match list.deleted_ids.with(Vec::len) {
        0 => None,
        count => Some(ORGANIZING.view(move |code| (code.undo)(list, count))),
    };
    view! { <div role="status">{bar}</div> }.into_any()
}

/// Returns the text and the button of the notice.
pub(super) fn undo_notice(list: ConversationListState, count: usize) -> AnyView {
    let words = if count == 1 { t(Text::DeletedOne).to_owned() } else { texts::fill_count(Text::DeletedCount, count) };
    view! {
        <div class="cw-undo">
            {words}
            <button type="button" class="cw-link" on:click=move |_| list.undo()>
                {t(Text::Undo)}
            </button>
        </div>
    }
    .into_any()
}

/// Returns the checkbox that selects the conversation.
pub(super) fn selection_checkbox(list: ConversationListState, id: String) -> AnyView {
    let chosen = {
        let id = id.clone();
        move || list.selected.with(|chosen| chosen.as_ref().is_some_and(|ids| ids.contains(&id)))
    };
    view! {
        <input
            type="checkbox"
            class="cw-conversation-choice"
            aria-label=t(Text::Select)
            prop:checked=chosen
            on:change=move |_| list.toggle_selected(&id)
        />
    }
    .into_any()
}
