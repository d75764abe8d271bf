//! What can be done with several conversations at once, and the undo of what was deleted.

use super::actions::archived;
use super::list::{Conversations, use_conversations};
use super::move_dialog::open_move_dialog;
use super::organizing::ORGANIZING;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{self, Text, t};
use leptos::ev::MouseEvent;

/// The bar for what is selected.
#[component]
pub fn Selection() -> AnyView {
    let list = use_conversations();
    let on = Memo::new(move |_| list.chosen.with(Option::is_some));
    (move || on.get().then(|| ORGANIZING.view(move |code| (code.bar)(list)))).into_any()
}

/// What can be done with them.
pub(super) fn bar(list: Conversations) -> AnyView {
    let count =
        move || texts::count(Text::SelectedCount, list.chosen.with(|chosen| chosen.as_ref().map_or(0, Vec::len)));
    let button = |label: &'static str, icon: Shape, act: Box<dyn FnMut(MouseEvent)>| {
        view! {
            <button type="button" class="cw-icon-button" aria-label=label title=label on:click=act>
                <Icon of=icon />
            </button>
        }
        .into_any()
    };
    let take = move || {
        let ids = list.chosen.get_untracked().unwrap_or_default();
        list.chosen.set(None);
        ids
    };
    let away = move || !list.filter.with_untracked(|filter| filter.archived);
    let label = if away() { t(Text::ToArchive) } else { t(Text::OutOfArchive) };
    view! {
        <div class="cw-selection" role="toolbar" aria-label=t(Text::SelectedConversations)>
            <span role="status">{count}</span>
            {button(label, Shape::Archive, Box::new(move |_| list.change(take(), archived(away()))))}
            {button(
                t(Text::MoveToFolder),
                Shape::Folder,
                Box::new(move |_| open_move_dialog(list, list.chosen.get_untracked().unwrap_or_default())),
            )}
            {button(t(Text::Delete), Shape::Bin, Box::new(move |_| list.delete(take())))}
            {button(t(Text::SelectNothing), Shape::Close, Box::new(move |_| drop(take())))}
        </div>
    }
    .into_any()
}

/// Says what was deleted, and offers it back.
#[component]
pub fn Undo() -> AnyView {
    let list = use_conversations();
    let bar = move || match list.deleted.with(Vec::len) {
        0 => None,
        count => Some(ORGANIZING.view(move |code| (code.undo)(list, count))),
    };
    view! { <div role="status">{bar}</div> }.into_any()
}

/// The words with the button.
pub(super) fn undo(list: Conversations, count: usize) -> AnyView {
    let words = if count == 1 { t(Text::DeletedOne).to_owned() } else { texts::count(Text::DeletedCount, count) };
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
