//! Synchronizes the tabs of one browser: each tells the others which conversation changed.

use crate::prelude::*;
use crate::ui::browser::random_id;
use leptos::web_sys::{BroadcastChannel, MessageEvent};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

const CHANNEL: &str = "chatwright-conversations";

thread_local! {
    /// The id of this tab: it also receives its own messages, and ignores them.
    static TAB_ID: String = random_id();
}

/// Tells all other tabs that a conversation changed; an empty id means the list of conversations.
pub(crate) fn broadcast(id: &str) {
    if let Ok(channel) = BroadcastChannel::new(CHANNEL) {
        // Without other tabs there is no receiver.
        let _ = TAB_ID.with(|page| channel.post_message(&format!("{page} {id}").into()));
        channel.close();
    }
}

/// Calls `changed` with the id of each conversation that changes in another tab, until the owner is
/// disposed.
pub(crate) fn listen(changed: impl Fn(&str) + 'static) {
    let Ok(channel) = BroadcastChannel::new(CHANNEL) else { return };
    let heard = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let said = event.data().as_string().unwrap_or_default();
        if let Some((page, id)) = said.split_once(' ')
            && TAB_ID.with(|own| own != page)
        {
            changed(id);
        }
    });
    channel.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    let kept = StoredValue::new_local((channel, heard));
    on_cleanup(move || kept.with_value(|(channel, _)| channel.close()));
}
