//! Moves conversations to folders by dragging their rows. With the keyboard, *Move to a folder…* in the menu does the
//! same. Part of the chunk `organizing`.

use super::list::{ConversationListState, use_conversations};
use super::move_dialog::{folder_change, folder_key};
use super::scope::folder_marks;
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev::{self, DragEvent};
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};
use wire::organize::Folder;

/// The id of the list of folders that is shown while a row is dragged.
const TARGETS_ID: &str = "cw-drop-targets";

/// Begins to drag the row of an event, with all selected ones if it is among them.
pub(super) fn drag_row(list: ConversationListState, event: &DragEvent) {
    let row = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let row = row.and_then(|target| target.closest("[data-conversation]").ok().flatten());
    let Some(id) = row.and_then(|row| row.get_attribute("data-conversation")) else { return };
    let Some(entry) = list.entry(&id) else { return };
    let selected = list.selected.get_untracked().filter(|ids| ids.contains(&id));
    list.ids_to_move.set_value(selected.unwrap_or_else(|| vec![id]));
    // The folders are in the document from then on.
    list.subject.set(Some(entry.summary.get_untracked()));
    // A browser ends the drag if the document changes before it has begun.
    request_animation_frame(|| {
        if let Some(targets) = targets() {
            // Fails only if it is shown.
            let _ = targets.show_popover();
        }
    });
}

fn targets() -> Option<HtmlElement> {
    document().get_element_by_id(TARGETS_ID)?.dyn_into().ok()
}

fn hide_targets() {
    if let Some(targets) = targets() {
        // Fails only if it is hidden.
        let _ = targets.hide_popover();
    }
}

/// The folders as targets of a dragged row.
#[component]
pub fn DropTargets() -> AnyView {
    let list = use_conversations();
    Effect::new(|_| {
        let ended = window_event_listener(ev::dragend, |_| hide_targets());
        on_cleanup(move || ended.remove());
    });
    let folder = move |folder: Folder| target(list, Some(folder));
    view! {
        <div id=TARGETS_ID class="cw-drop-targets" popover="manual" aria-hidden="true">
            {t(Text::MoveTitle)} {target(list, None)}
            <For each=move || list.folders.get() key=folder_key children=folder />
        </div>
    }
    .into_any()
}

fn target(list: ConversationListState, folder: Option<Folder>) -> AnyView {
    let id = folder.as_ref().map(|folder| folder.id.clone());
    let marks = folder.as_ref().map(folder_marks);
    let name = folder.map_or_else(|| t(Text::NoFolder).to_owned(), |folder| folder.name);
    let over = RwSignal::new(false);
    let drop = move |event: DragEvent| {
        // Without this the browser follows the link that is dragged.
        event.prevent_default();
        over.set(false);
        hide_targets();
        list.change(list.ids_to_move.get_value(), folder_change(id.clone()));
        list.selected.set(None);
    };
    let enter = move |event: DragEvent| {
        event.prevent_default();
        over.set(true);
    };
    view! {
        <div class="cw-move-target" class:cw-over=move || over.get() on:dragover=enter on:dragleave=move |_| over.set(false) on:drop=drop>
            <span class="cw-move-name" dir="auto">{name}</span>
            {marks}
        </div>
    }
    .into_any()
}
