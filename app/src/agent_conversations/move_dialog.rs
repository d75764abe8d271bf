//! Moves conversations, or a folder, to a folder, to no folder, or to a new one: with a dialog, or by dragging their rows.

use super::list::{ConversationListState, use_conversations};
use super::scope::folder_marks;
use super::tree::{in_tree_order, order_buttons};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{self, DragEvent};
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlDialogElement, HtmlElement};
use wire::organize::{ConversationChange, Folder, MoveTo};

const DIALOG_ID: &str = "cw-move-conversations";

/// The maximum length of a folder's name.
pub(super) const NAME_LENGTH: &str = "60";

/// A native modal dialog: it keeps the focus, and Escape cancels.
#[component]
pub fn MoveDialog() -> AnyView {
    let list = use_conversations();
    let name = NodeRef::<html::Input>::new();
    let folders = move || {
        let moved = list.folder_to_move.get();
        list.folders.with(|folders| in_tree_order(folders, moved.as_deref()))
    };
    let order = move || list.folder_to_move.get().and_then(|id| order_buttons(list, id));
    let key = |(level, folder): &(usize, Folder)| format!("{level} {}", folder_key(folder));
    let folder = move |(level, folder): (usize, Folder)| folder_button(list, Some(folder), level);
    let create = move |_| {
        if let Some(name) = name.get_untracked() {
            let typed = name.value();
            name.set_value("");
            if !typed.trim().is_empty() {
                list.move_to_new_folder(typed);
            }
        }
    };
    view! {
        <dialog id=DIALOG_ID class="cw-dialog" aria-labelledby="cw-move-title">
            <form method="dialog">
                <h2 id="cw-move-title">{t(Text::MoveTitle)}</h2>
                {order}
                <div class="cw-move-targets">{folder_button(list, None, 0)} <For each=folders key=key children=folder /></div>
                <div class="cw-move-new">
                    <input
                        class="cw-control"
                        type="text"
                        dir="auto"
                        aria-label=t(Text::NewFolderName)
                        placeholder=t(Text::NewFolder)
                        maxlength=NAME_LENGTH
                        autocomplete="off"
                        node_ref=name
                    />
                    <button type="submit" class="cw-button" on:click=create>
                        {t(Text::Create)}
                    </button>
                </div>
                <div class="cw-dialog-buttons">
                    <button type="submit" class="cw-button" formnovalidate=true>
                        {t(Text::Cancel)}
                    </button>
                </div>
            </form>
        </dialog>
    }
    .into_any()
}

/// Returns the button for a folder that is in `level` others. It is not a submit button, so that Enter in the name
/// field creates a folder.
fn folder_button(list: ConversationListState, folder: Option<Folder>, level: usize) -> AnyView {
    let id = folder.as_ref().map(|folder| folder.id.clone());
    let marks = folder.as_ref().map(folder_marks);
    let name = folder.map_or_else(|| t(Text::NoFolder).to_owned(), |folder| folder.name);
    let go = move |_| {
        move_to(list, id.clone());
        if let Some(dialog) = dialog(DIALOG_ID) {
            dialog.close();
        }
    };
    view! {
        <button type="button" class="cw-move-target" data-level=level.to_string() on:click=go>
            <Icon of=Shape::FOLDER />
            <span class="cw-move-name" dir="auto">{name}</span>
            {marks}
        </button>
    }
    .into_any()
}

/// Returns the shown properties of a folder, so that a changed folder is rendered again.
pub(super) fn folder_key(folder: &Folder) -> String {
    format!("{} {:?} {} {}", folder.id, folder.color, folder.count, folder.name)
}

/// Moves a conversation to a folder, or out of its folder.
pub(super) fn folder_change(id: Option<String>) -> ConversationChange {
    ConversationChange { folder_id: Some(MoveTo(id)), ..ConversationChange::default() }
}

/// Moves the conversations or the folder of the dialog, or the dragged ones, to a folder, or out of their folder.
pub(super) fn move_to(list: ConversationListState, id: Option<String>) {
    match list.folder_to_move.get_untracked() {
        Some(folder) => list.move_folder(folder, id, None),
        None => {
            list.change(list.ids_to_move.get_value(), folder_change(id));
            list.selected.set(None);
        }
    }
}

/// Opens the dialog for these conversations.
pub(super) fn open_move_dialog(list: ConversationListState, ids: Vec<String>) {
    list.folder_to_move.set(None);
    list.ids_to_move.set_value(ids);
    open_dialog(DIALOG_ID);
}

/// Opens the dialog for a folder.
pub(super) fn open_folder_dialog(list: ConversationListState, id: String) {
    list.folder_to_move.set(Some(id));
    // The dialog is in the document from then on.
    request_animation_frame(|| open_dialog(DIALOG_ID));
}

/// Opens one of the list's dialogs.
pub(super) fn open_dialog(id: &str) {
    if let Some(dialog) = dialog(id) {
        // Fails only if the dialog is open.
        let _ = dialog.show_modal();
    }
}

fn dialog(id: &str) -> Option<HtmlDialogElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

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
    list.folder_to_move.set(None);
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

/// Hides the list of folders that is shown while a row is dragged.
pub(super) fn hide_targets() {
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
        move_to(list, id.clone());
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
