//! What the chat asks of the browser. Nothing here is called on the server.

use crate::prelude::*;
use futures::channel::oneshot;
use leptos::web_sys;
use std::time::Duration;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// An id that nobody else has: 128 random bits. `crypto.randomUUID` would need HTTPS, this does not.
pub(crate) fn random_id() -> String {
    let mut bytes = [0_u8; 16];
    if let Ok(crypto) = window().crypto() {
        // Only quotas can make it fail, and 16 bytes are below them.
        let _ = crypto.get_random_values_with_u8_array(&mut bytes);
    }
    bytes.iter().fold(String::with_capacity(32), |mut id, byte| {
        for digit in [byte >> 4, byte & 15] {
            id.extend(char::from_digit(digit.into(), 16));
        }
        id
    })
}

/// Milliseconds since the page was opened.
pub(crate) fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// Unix time, milliseconds, by the user's clock.
pub(crate) fn clock() -> i64 {
    js_sys::Date::now() as i64
}

/// Whether somebody can see the page.
pub(crate) fn is_visible() -> bool {
    !document().hidden()
}

/// Puts text into the clipboard; false where the browser has none (a page that is not served over HTTPS).
pub(crate) fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    let has_clipboard =
        js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).is_ok_and(|clipboard| clipboard.is_object());
    if has_clipboard {
        // Nothing waits for it: a refusal leaves the clipboard as it was.
        drop(navigator.clipboard().write_text(text));
    }
    has_clipboard
}

/// The text of the file that was chosen in a field; none without a file, and for one that cannot be read. By name: what web-sys has for
/// files is of no other use here.
pub(crate) async fn chosen_text(field: &web_sys::HtmlInputElement) -> Option<String> {
    let get = |of: &JsValue, name: &str| js_sys::Reflect::get(of, &JsValue::from_str(name)).ok();
    let file = get(&get(field, "files")?, "0").filter(JsValue::is_object)?;
    let text: js_sys::Function = get(&file, "text")?.dyn_into().ok()?;
    let promise: js_sys::Promise = text.call0(&file).ok()?.dyn_into().ok()?;
    let (tell, told) = oneshot::channel();
    let read = Closure::once(move |text: JsValue| {
        // Whoever waits may have given up.
        let _ = tell.send(text.as_string());
    });
    let refused = Closure::once(|_: JsValue| ());
    drop(promise.then2(&read, &refused));
    told.await.ok().flatten()
}

/// What an answer says, as it is read: without the marks of Markdown, and without the cards of calls.
pub(crate) fn shown_text(message_id: &str) -> String {
    let selector = format!("[data-message=\"{message_id}\"] > .cw-message-body");
    let Some(body) = document().query_selector(&selector).ok().flatten() else { return String::new() };
    // The style sheet leaves out what is not the text; nothing is painted in between.
    let _ = body.class_list().add_1("cw-text-only");
    let text = body.dyn_ref::<web_sys::HtmlElement>().map(web_sys::HtmlElement::inner_text).unwrap_or_default();
    let _ = body.class_list().remove_1("cw-text-only");
    text.trim().to_owned()
}

/// By which id this tab has run calls last, in the tab's own storage: it outlives a reload and is no other tab's.
const RUNNER: &str = "chatwright-runner";

/// Keeps by which id this tab runs calls.
pub(crate) fn keep_runner(id: &str) {
    // Without it, a reload has to wait like another tab.
    keep_in_tab(RUNNER, Some(id.to_owned()));
}

/// Whether this tab has run calls by this id, perhaps before a reload.
pub(crate) fn was_runner(id: &str) -> bool {
    kept_in_tab(RUNNER).as_deref() == Some(id)
}

/// What this tab has kept under a key, over reloads too.
pub(crate) fn kept_in_tab(key: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(key).ok()?
}

/// Keeps something in this tab, or nothing any more. A browser that blocks its storage keeps it as long as the page is open.
pub(crate) fn keep_in_tab(key: &str, value: Option<String>) {
    let Ok(Some(storage)) = window().session_storage() else { return };
    let _ = match value {
        Some(value) => storage.set_item(key, &value),
        None => storage.remove_item(key),
    };
}

/// Waits.
pub(crate) async fn sleep(duration: Duration) {
    let (wake, woken) = oneshot::channel();
    // Whoever waits may have given up.
    set_timeout(move || wake.send(()).unwrap_or_default(), duration);
    // The sender is kept by the timer until it fires.
    let _ = woken.await;
}

/// The files of a list.
pub(crate) fn files(list: Option<web_sys::FileList>) -> Vec<web_sys::File> {
    list.into_iter().flat_map(|list| (0..list.length()).filter_map(move |index| list.get(index))).collect()
}

/// The parameters of the address, for the agent.
pub(crate) fn url_query() -> serde_json::Map<String, serde_json::Value> {
    let search = window().location().search().unwrap_or_default();
    let mut query = serde_json::Map::new();
    let Ok(params) = web_sys::UrlSearchParams::new_with_str(&search) else {
        return query;
    };
    for pair in params.entries().into_iter().flatten() {
        let pair = js_sys::Array::from(&pair);
        if let (Some(key), Some(value)) = (pair.get(0).as_string(), pair.get(1).as_string()) {
            query.insert(key, value.into());
        }
    }
    query
}
