//! Renames a conversation in place.

use super::keys::focus_row;
use super::list::{ConversationEntry, ConversationListState, use_conversations};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html;
use std::sync::Arc;

/// The maximum length of a title.
const TITLE_LENGTH: &str = "120";

/// The title as an input: Enter and blur save it, Escape cancels.
#[component]
pub fn RenameField(
    /// The conversation.
    item: ConversationEntry,
) -> AnyView {
    let list = use_conversations();
    let input = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        if let Some(input) = input.get() {
            // Both fail only on an element that is gone.
            let _ = input.focus();
            input.select();
        }
    });
    let id: Arc<str> = item.id.as_str().into();
    let by_key = {
        let id = id.clone();
        move |event: KeyboardEvent| {
            let title = match event.key().as_str() {
                "Enter" if !event.is_composing() => Some(event_target_value(&event)),
                "Escape" => None,
                _ => return,
            };
            // Otherwise Escape would also close the drawer.
            event.prevent_default();
            event.stop_propagation();
            finish_rename(list, &id, title);
            let id = id.clone();
            // On the row itself, where the other keys of the list work.
            request_animation_frame(move || {
                focus_row(&id);
            });
        }
    };
    view! {
        <input
            class="cw-control cw-rename"
            type="text"
            dir="auto"
            aria-label=t(Text::NewTitle)
            maxlength=TITLE_LENGTH
            autocomplete="off"
            node_ref=input
            value=item.summary.with_untracked(|summary| summary.title.clone())
            on:keydown=by_key
            on:blur=move |event: FocusEvent| finish_rename(list, &id, Some(event_target_value(&event)))
        />
    }
    .into_any()
}

/// Ends the renaming, and saves the title if there is one. Only once: removing the focused input
/// causes a blur event too.
fn finish_rename(list: ConversationListState, id: &str, title: Option<String>) {
    if list.renaming.with_untracked(|renaming| renaming.as_deref() != Some(id)) {
        return;
    }
    if let Some(title) = title {
        list.rename(id.to_owned(), title);
    }
    list.renaming.set(None);
}
