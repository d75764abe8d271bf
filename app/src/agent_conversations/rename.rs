//! Renaming in place.

use super::item::actions_button;
use super::list::{Entry, use_conversations};
use crate::blocks::control::focus;
use leptos::html;
use leptos::prelude::*;

/// The longest title that can be typed.
const TITLE_LENGTH: &str = "120";

/// The title as an input: Enter and leaving keep it, Escape does not.
#[component]
pub fn Rename(
    /// The conversation.
    item: Entry,
) -> impl IntoView {
    let list = use_conversations();
    let input = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        if let Some(input) = input.get() {
            // Both fail only on an element that is gone.
            let _ = input.focus();
            input.select();
        }
    });
    let id = StoredValue::new(item.id.clone());
    // Removing a focused input makes it lose the focus, which would end the renaming a second time.
    let end = move |keep: bool| {
        if list.renaming.try_get_untracked().flatten() != Some(id.get_value()) {
            return false;
        }
        if let (true, Some(input)) = (keep, input.get_untracked()) {
            list.rename(id.get_value(), input.value());
        }
        list.renaming.set(None);
        true
    };
    let by_key = move |event: leptos::ev::KeyboardEvent| {
        let keep = match event.key().as_str() {
            "Enter" if !event.is_composing() => true,
            "Escape" => false,
            _ => return,
        };
        // Escape would close the drawer as well.
        event.prevent_default();
        event.stop_propagation();
        if end(keep) {
            request_animation_frame(move || focus(&actions_button(&id.get_value())));
        }
    };
    view! {
        <input
            class="cw-control cw-rename"
            type="text"
            aria-label="New title"
            maxlength=TITLE_LENGTH
            autocomplete="off"
            node_ref=input
            value=item.summary.with_untracked(|summary| summary.title.clone())
            on:keydown=by_key
            on:blur=move |_| {
                end(true);
            }
        />
    }
    .into_any()
}
