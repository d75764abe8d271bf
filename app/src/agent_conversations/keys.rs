//! The keyboard shortcuts of the list: arrow keys move between rows, F2 renames, Space selects,
//! Delete deletes.

use super::list::ConversationListState;
use super::row_window::RowWindow;
use crate::prelude::*;
use leptos::ev::KeyboardEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};

/// Handles a key for the row that has the focus. The handler is in the chunk that is requested when a row gets the
/// focus.
pub(super) fn on_key(list: ConversationListState, window: RowWindow, event: &KeyboardEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(link) = target.filter(|target| target.class_list().contains("cw-conversation-link")) else { return };
    let Some(id) = link.parent_element().and_then(|row| row.get_attribute("data-conversation")) else { return };
    let key = event.key();
    match key.as_str() {
        "ArrowDown" | "ArrowUp" | "Home" | "End" | "F2" | " " | "Delete" => {}
        "Escape" if list.selected.with_untracked(Option::is_some) => {}
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
    list.with_organizing(move |code| (code.press)(list, window, &key, id));
}

/// Performs the action of a key in the row of a conversation.
pub(super) fn press(list: ConversationListState, window: RowWindow, key: &str, id: String) {
    let focus = |to: fn(usize, usize) -> usize| {
        let count = list.count_untracked();
        if let Some(at) = list.position(&id) {
            window.focus_row_at(list, to(at, count).min(count.saturating_sub(1)));
        }
    };
    match key {
        "ArrowDown" => focus(|at, _| at + 1),
        "ArrowUp" => focus(|at, _| at.saturating_sub(1)),
        "Home" => focus(|_, _| 0),
        "End" => focus(|_, count| count),
        "F2" => list.renaming.set(Some(id)),
        " " => list.toggle_selected(&id),
        "Escape" => list.selected.set(None),
        "Delete" => {
            let ids = list.selected.get_untracked().unwrap_or_else(|| vec![id]);
            list.selected.set(None);
            // Conversations that an earlier key press has deleted are not in the list any more.
            list.delete(ids.into_iter().filter(|id| list.entry(id).is_some()).collect());
        }
        _ => {}
    }
}

/// Focuses the row of a conversation; false if it is not in the document.
pub(super) fn focus_row(id: &str) -> bool {
    let link = document().query_selector(&format!("[data-conversation=\"{id}\"] .cw-conversation-link"));
    let link = link.ok().flatten().and_then(|link| link.dyn_into::<HtmlElement>().ok());
    link.is_some_and(|link| link.focus().is_ok())
}
