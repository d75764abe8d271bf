//! The question where conversations go: one of the folders, none, or a new one.

use super::list::{Conversations, use_conversations};
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlDialogElement;
use wire::order::{ConversationChange, Folder, MoveTo};

const DIALOG: &str = "cw-move-conversations";

/// The longest name that can be typed.
pub(super) const NAME_LENGTH: &str = "60";

/// A native modal dialog: it keeps the focus, and Escape leaves everything where it is.
#[component]
pub fn MoveDialog() -> AnyView {
    let list = use_conversations();
    let name = NodeRef::<html::Input>::new();
    let key = |folder: &Folder| format!("{} {}", folder.id, folder.name);
    let folder = move |folder: Folder| target(list, Some(folder.id), folder.name);
    let create = move |_| {
        if let Some(name) = name.get_untracked() {
            let typed = name.value();
            name.set_value("");
            if !typed.trim().is_empty() {
                list.move_to_new(typed);
            }
        }
    };
    view! {
        <dialog id=DIALOG class="cw-dialog" aria-labelledby="cw-move-title">
            <form method="dialog">
                <h2 id="cw-move-title">{t(Text::MoveTitle)}</h2>
                <div class="cw-move-targets">{target(list, None, t(Text::NoFolder).to_owned())} <For each=move || list.folders.get() key=key children=folder /></div>
                <div class="cw-move-new">
                    <input
                        class="cw-control"
                        type="text"
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

/// A button that moves there. No submit button, so that Enter in the field creates.
fn target(list: Conversations, id: Option<String>, name: String) -> AnyView {
    let go = move |_| {
        list.change(list.moving.get_value(), into(id.clone()));
        list.chosen.set(None);
        if let Some(dialog) = dialog(DIALOG) {
            dialog.close();
        }
    };
    view! {
        <button type="button" class="cw-move-target" on:click=go>
            <Icon of=Shape::Folder />
            {name}
        </button>
    }
    .into_any()
}

/// Into a folder, or into none.
pub(super) fn into(id: Option<String>) -> ConversationChange {
    ConversationChange { folder_id: Some(MoveTo(id)), ..ConversationChange::default() }
}

/// Asks where these conversations go.
pub(super) fn open_move_dialog(list: Conversations, ids: Vec<String>) {
    list.moving.set_value(ids);
    open_dialog(DIALOG);
}

/// Opens a dialog of the list's.
pub(super) fn open_dialog(id: &str) {
    if let Some(dialog) = dialog(id) {
        // Refused only by one that is open.
        let _ = dialog.show_modal();
    }
}

fn dialog(id: &str) -> Option<HtmlDialogElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}
