//! The keyboard shortcuts of the list: arrow keys move between rows, F2 renames, Space selects,
//! Delete deletes.

use super::list::ConversationListState;
use crate::prelude::*;
use leptos::ev::KeyboardEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};

/// Handles a key for the row that has the focus.
pub(super) fn on_key(list: ConversationListState, event: &KeyboardEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(link) = target.filter(|target| target.class_list().contains("cw-conversation-link")) else { return };
    let Some(row) = link.parent_element() else { return };
    let Some(id) = row.get_attribute("data-conversation") else { return };
    match event.key().as_str() {
        "ArrowDown" => focus_link(row.next_element_sibling()),
        "ArrowUp" => focus_link(row.previous_element_sibling()),
        "Home" => focus_link(row.parent_element().and_then(|rows| rows.first_element_child())),
        "End" => focus_link(row.parent_element().and_then(|rows| rows.last_element_child())),
        "F2" => list.renaming.set(Some(id)),
        " " => list.toggle_selected(&id),
        "Escape" if list.selected.with_untracked(Option::is_some) => list.selected.set(None),
        "Delete" => list.with_organizing(move |code| {
            let ids = list.selected.get_untracked().unwrap_or_else(|| vec![id]);
            list.selected.set(None);
            // Conversations that an earlier key press has deleted are not in the list any more.
            let ids = ids.into_iter().filter(|id| list.entry(id).is_some()).collect();
            (code.delete)(list, ids);
        }),
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}

/// Focuses the row of a conversation.
pub(super) fn focus_row(id: &str) {
    focus_link(document().query_selector(&format!("[data-conversation=\"{id}\"]")).ok().flatten());
}

fn focus_link(row: Option<Element>) {
    let link = row.and_then(|row| row.query_selector(".cw-conversation-link").ok().flatten());
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
        let _ = link.focus();
    }
}
