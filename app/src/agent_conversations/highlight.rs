//! Scrolls to a message that a search has found, and highlights the search terms in it.

use crate::prelude::*;
use crate::ui::script::load_script;
use leptos::web_sys::Element;
use std::time::Duration;
use wire::organize::SearchHit;

/// How often to look for the message while its conversation is loading.
const MAX_ATTEMPTS: u32 = 60;
/// The time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// The attribute of the message, with the search terms as JSON; `found.js` highlights them.
const FOUND_ATTRIBUTE: &str = "data-found";
/// The script that highlights the terms without changing the document that the app renders.
const SCRIPT: &str = "/assets/lazy/found.js";

/// Scrolls to a message as soon as it is in the document, and highlights the terms. Does nothing
/// for a message of another branch, which is not in the document.
pub(super) fn highlight_message(id: String, words: Vec<String>) {
    find_message(id, words, MAX_ATTEMPTS);
}

/// Highlights the matches of a search in the conversation that is being opened.
pub(crate) fn highlight_result(hit: &SearchHit) {
    clear_highlight();
    if let Some(id) = &hit.message_id {
        highlight_message(id.clone(), matches(&hit.passage));
    }
}

/// Returns the matches of a passage: every second piece.
pub(super) fn matches(passage: &[String]) -> Vec<String> {
    passage.iter().skip(1).step_by(2).cloned().collect()
}

/// Removes the highlighting of the last message.
pub(super) fn clear_highlight() {
    if let Some(message) = document().query_selector(&format!("[{FOUND_ATTRIBUTE}]")).ok().flatten() {
        // Cannot fail: removes an attribute of an existing element.
        let _ = message.remove_attribute(FOUND_ATTRIBUTE);
    }
}

fn find_message(id: String, words: Vec<String>, tries: u32) {
    let Some(tries) = tries.checked_sub(1) else { return };
    let look = move || match document().query_selector(&format!("[data-message=\"{id}\"]")).ok().flatten() {
        Some(message) => mark_message(&message, &words),
        None => find_message(id, words, tries),
    };
    set_timeout(look, RETRY_INTERVAL);
}

fn mark_message(message: &Element, words: &[String]) {
    message.scroll_into_view();
    // Cannot fail: sets an attribute of an existing element.
    let _ = message.set_attribute(FOUND_ATTRIBUTE, &serde_json::Value::from(words).to_string());
    // Without the script only the message is marked.
    load_script(SCRIPT);
}
