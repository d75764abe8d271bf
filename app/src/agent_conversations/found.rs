//! Shows a message that a search has found, with the words that were searched for.

use crate::prelude::*;
use leptos::web_sys::Element;
use std::time::Duration;

/// How often the message is looked for, until its conversation is there.
const TRIES: u32 = 60;
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Marks the message, with the words as JSON; `found.js` highlights them.
const FOUND: &str = "data-found";
/// Highlights words without changing the document that the app draws.
const SCRIPT: &str = "/assets/lazy/found.js";

/// Brings a message into view as soon as it is there, and highlights it. A message of another branch is not there.
pub(super) fn show_found(id: String, words: Vec<String>) {
    look(id, words, TRIES);
}

/// Ends the highlight of the last message.
pub(super) fn clear() {
    if let Some(message) = document().query_selector(&format!("[{FOUND}]")).ok().flatten() {
        // An attribute of an element that exists.
        let _ = message.remove_attribute(FOUND);
    }
}

fn look(id: String, words: Vec<String>, tries: u32) {
    let Some(tries) = tries.checked_sub(1) else { return };
    let look = move || match document().query_selector(&format!("[data-message=\"{id}\"]")).ok().flatten() {
        Some(message) => mark(&message, &words),
        None => look(id, words, tries),
    };
    set_timeout(look, LOOK_EVERY);
}

fn mark(message: &Element, words: &[String]) {
    message.scroll_into_view();
    // An attribute of an element that exists.
    let _ = message.set_attribute(FOUND, &serde_json::Value::from(words).to_string());
    let is_loaded = document().query_selector(&format!("script[src=\"{SCRIPT}\"]")).ok().flatten().is_some();
    let script = document().create_element("script");
    if let (false, Ok(script), Ok(Some(head))) = (is_loaded, script, document().query_selector("head")) {
        // Attributes of an element that was just made; without the script only the message is marked.
        let _ = script.set_attribute("type", "module");
        let _ = script.set_attribute("src", SCRIPT);
        let _ = head.append_child(&script);
    }
}
