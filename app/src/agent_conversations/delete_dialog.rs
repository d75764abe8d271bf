//! The question before a conversation is deleted.

use super::list::use_conversations;
use crate::erase::{Erase, handler, text};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlDialogElement;

const DIALOG: &str = "cw-delete-conversation";

/// A native modal dialog: it keeps the focus, and Escape is no.
#[component]
pub fn DeleteDialog() -> impl IntoView {
    let list = use_conversations();
    let title = text(move || {
        let subject = list.subject.get();
        subject.map(|subject| subject.title).unwrap_or_default()
    });
    let delete = move |_| {
        if let Some(subject) = list.subject.get_untracked() {
            list.delete(subject.id);
        }
    };
    view! {
        <dialog id=DIALOG class="cw-dialog" aria-labelledby="cw-delete-title">
            <form method="dialog">
                <h2 id="cw-delete-title">"Delete this conversation?"</h2>
                <p>
                    <q>{title}</q>
                    " and all that was said in it will be gone for good."
                </p>
                <div class="cw-dialog-buttons">
                    <button type="submit" class="cw-button" autofocus=true>
                        "Keep it"
                    </button>
                    <button type="submit" class="cw-button cw-danger" on:click=handler(delete)>
                        "Delete"
                    </button>
                </div>
            </form>
        </dialog>
    }
    .erase()
}

/// Asks about the list's subject.
pub(super) fn open_delete_dialog() {
    let dialog = document().get_element_by_id(DIALOG);
    if let Some(dialog) = dialog.and_then(|dialog| dialog.dyn_into::<HtmlDialogElement>().ok()) {
        // Refused only by one that is open.
        let _ = dialog.show_modal();
    }
}
