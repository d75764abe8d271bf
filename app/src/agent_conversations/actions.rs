//! The menu of a conversation. One for the whole list: a native popover that the style sheet anchors to the button that opened it.

use super::delete_dialog::open_delete_dialog;
use super::list::use_conversations;
use crate::erase::{Erase, handler};
use crate::icons::{Icon, Shape};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};

/// Rename and delete.
#[component]
pub fn ActionsMenu(
    /// The popover's id.
    id: String,
) -> impl IntoView {
    let list = use_conversations();
    let menu = NodeRef::<leptos::html::Div>::new();
    let close = move || {
        if let Some(menu) = menu.get_untracked() {
            // Refused only when it is closed.
            let _ = menu.hide_popover();
        }
    };
    let rename = move |_| {
        close();
        list.renaming.set(list.subject.get_untracked().map(|subject| subject.id));
    };
    let delete = move |_| {
        close();
        open_delete_dialog();
    };
    view! {
        <div id=id class="cw-menu" popover="auto" role="menu" aria-label="Conversation" node_ref=menu on:keydown=handler(move_focus)>
            <button type="button" role="menuitem" autofocus=true on:click=handler(rename)>
                <Icon of=Shape::Pencil />
                "Rename"
            </button>
            <button type="button" role="menuitem" class="cw-danger" on:click=handler(delete)>
                <Icon of=Shape::Bin />
                "Delete…"
            </button>
        </div>
    }
    .erase()
}

/// The arrow keys go round the items, as in every menu.
fn move_focus(event: KeyboardEvent) {
    let Some(focused) = document().active_element() else { return };
    let parent = focused.parent_element();
    let to = match event.key().as_str() {
        "ArrowDown" => focused.next_element_sibling().or_else(|| parent.and_then(|menu| menu.first_element_child())),
        "ArrowUp" => focused.previous_element_sibling().or_else(|| parent.and_then(|menu| menu.last_element_child())),
        "Home" => parent.and_then(|menu| menu.first_element_child()),
        "End" => parent.and_then(|menu| menu.last_element_child()),
        _ => return,
    };
    event.prevent_default();
    if let Some(to) = to.and_then(|to: Element| to.dyn_into::<HtmlElement>().ok()) {
        let _ = to.focus();
    }
}
