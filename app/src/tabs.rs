//! The tabs of one browser tell each other which conversation changed.

use crate::agent_chat::browser::random_id;
use crate::prelude::*;
use leptos::web_sys::{BroadcastChannel, MessageEvent};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

const CHANNEL: &str = "chatwright-conversations";

thread_local! {
    /// Who speaks: a page hears its own channel, too, and knows already what it said.
    static PAGE: String = random_id();
}

/// Tells all other tabs which conversation changed; an empty id: something about the list of them.
pub(crate) fn tell(id: &str) {
    if let Ok(channel) = BroadcastChannel::new(CHANNEL) {
        // Without other tabs nobody hears it.
        let _ = PAGE.with(|page| channel.post_message(&format!("{page} {id}").into()));
        channel.close();
    }
}

/// Hears of changes in other tabs, until the owner's end.
pub(crate) fn hear(changed: impl Fn(&str) + 'static) {
    let Ok(channel) = BroadcastChannel::new(CHANNEL) else { return };
    let heard = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let said = event.data().as_string().unwrap_or_default();
        if let Some((page, id)) = said.split_once(' ')
            && PAGE.with(|own| own != page)
        {
            changed(id);
        }
    });
    channel.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    let kept = StoredValue::new_local((channel, heard));
    on_cleanup(move || kept.with_value(|(channel, _)| channel.close()));
}
