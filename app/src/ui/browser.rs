//! Access to browser APIs. Nothing here is called on the server.

use crate::prelude::*;
use futures::channel::oneshot;
use leptos::web_sys;
use std::time::Duration;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// A random id of 128 bits, in hexadecimal. `crypto.randomUUID` works only over HTTPS, this works
/// over HTTP as well.
pub(crate) fn random_id() -> String {
    let mut bytes = [0_u8; 16];
    if let Ok(crypto) = window().crypto() {
        // It fails only above a quota of 65,536 bytes.
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

/// The Unix time in milliseconds, by the user's clock.
pub(crate) fn unix_time_ms() -> i64 {
    js_sys::Date::now() as i64
}

/// Posts what `send` sends and returns the status and the text of the response; the status is 0 if the
/// server cannot be reached. `progress` gets percents, and `started` the request, which can be aborted.
/// `XmlHttpRequest` is used because it reports upload progress.
///
/// # Errors
/// The browser refused the request, or `started` did.
pub(crate) async fn post_with_progress(
    url: &str,
    progress: impl Fn(u8) + 'static,
    started: impl FnOnce(&web_sys::XmlHttpRequest) -> Result<(), JsValue>,
    send: impl FnOnce(&web_sys::XmlHttpRequest) -> Result<(), JsValue>,
) -> Result<(u16, String), JsValue> {
    let request = web_sys::XmlHttpRequest::new()?;
    request.open("POST", url)?;
    let progress = Closure::<dyn Fn(web_sys::ProgressEvent)>::new(move |event: web_sys::ProgressEvent| {
        let percent = if event.total() > 0.0 { event.loaded() / event.total() * 100.0 } else { 0.0 };
        progress(percent as u8);
    });
    request.upload()?.set_onprogress(Some(progress.as_ref().unchecked_ref()));
    let (tell, told) = oneshot::channel::<()>();
    let end = Closure::once(move || drop(tell));
    request.set_onloadend(Some(end.as_ref().unchecked_ref()));
    started(&request)?;
    send(&request)?;
    // The end of the request drops the sender.
    let _ = told.await;
    request.set_onloadend(None);
    Ok((request.status().unwrap_or_default(), request.response_text().ok().flatten().unwrap_or_default()))
}

/// Whether the page is visible to the user.
pub(crate) fn is_visible() -> bool {
    !document().hidden()
}

/// Copies text to the clipboard; false if the browser offers none, because the page is not served
/// over HTTPS.
pub(crate) fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    let has_clipboard =
        js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).is_ok_and(|clipboard| clipboard.is_object());
    if has_clipboard {
        // The result is not awaited: if the browser refuses, the clipboard stays unchanged.
        drop(navigator.clipboard().write_text(text));
    }
    has_clipboard
}

/// Reads the file selected in a field as text; none without a file, or if it cannot be read. It
/// uses properties by name, because the bindings of `web-sys` for files are used nowhere else.
pub(crate) async fn selected_file_text(field: &web_sys::HtmlInputElement) -> Option<String> {
    let get = |of: &JsValue, name: &str| js_sys::Reflect::get(of, &JsValue::from_str(name)).ok();
    let file = get(&get(field, "files")?, "0").filter(JsValue::is_object)?;
    let text: js_sys::Function = get(&file, "text")?.dyn_into().ok()?;
    let promise: js_sys::Promise = text.call0(&file).ok()?.dyn_into().ok()?;
    let (tell, told) = oneshot::channel();
    let read = Closure::once(move |text: JsValue| {
        // The receiver may have been dropped.
        let _ = tell.send(text.as_string());
    });
    let refused = Closure::once(|_: JsValue| ());
    drop(promise.then2(&read, &refused));
    told.await.ok().flatten()
}

/// The text of an answer as it is displayed, without Markdown markup and without tool cards.
pub(crate) fn visible_text(message_id: &str) -> String {
    message_body(message_id).map(text_of_body).unwrap_or_default()
}

/// The same with the numbers of sources, in brackets.
pub(crate) fn visible_text_with_marks(message_id: &str) -> String {
    let Some(body) = message_body(message_id) else { return String::new() };
    let marks = body.query_selector_all(".cw-md-cite").ok();
    let numbers: Vec<web_sys::Node> = marks
        .into_iter()
        .flat_map(|marks| (0..marks.length()).filter_map(move |at| marks.item(at)?.first_child()))
        .collect();
    let numbered: Vec<_> = numbers.into_iter().filter_map(|node| Some((node.node_value()?, node))).collect();
    for (number, node) in &numbered {
        node.set_node_value(Some(&format!("[{number}]")));
    }
    let _ = body.class_list().add_1("cw-text-marks");
    let text = text_of_body(body.clone());
    let _ = body.class_list().remove_1("cw-text-marks");
    for (number, node) in &numbered {
        node.set_node_value(Some(number));
    }
    text
}

fn message_body(message_id: &str) -> Option<web_sys::Element> {
    let selector = format!("[data-message=\"{message_id}\"] > .cw-message-body");
    document().query_selector(&selector).ok().flatten()
}

fn text_of_body(body: web_sys::Element) -> String {
    // The style sheet hides everything but the text; the browser does not paint in between.
    let _ = body.class_list().add_1("cw-text-only");
    let text = body.dyn_ref::<web_sys::HtmlElement>().map(web_sys::HtmlElement::inner_text).unwrap_or_default();
    let _ = body.class_list().remove_1("cw-text-only");
    text.trim().to_owned()
}

/// The storage key of the id under which this tab last ran calls. Session storage survives a reload
/// and is not shared with other tabs.
const RUNNER_KEY: &str = "chatwright-runner";

/// Saves the id under which this tab runs calls.
pub(crate) fn save_runner_id(id: &str) {
    // If it cannot be saved, this tab waits after a reload like any other tab.
    write_session_storage(RUNNER_KEY, Some(id.to_owned()));
}

/// Whether this tab has run calls under this id, possibly before a reload.
pub(crate) fn is_own_runner_id(id: &str) -> bool {
    read_session_storage(RUNNER_KEY).as_deref() == Some(id)
}

/// Reads a value from the tab's session storage.
pub(crate) fn read_session_storage(key: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(key).ok()?
}

/// Writes a value to the tab's session storage, or removes it. Does nothing if the browser blocks
/// the storage.
pub(crate) fn write_session_storage(key: &str, value: Option<String>) {
    let Ok(Some(storage)) = window().session_storage() else { return };
    let _ = match value {
        Some(value) => storage.set_item(key, &value),
        None => storage.remove_item(key),
    };
}

/// Waits for a duration.
pub(crate) async fn sleep(duration: Duration) {
    let (wake, woken) = oneshot::channel();
    // The receiver may have been dropped.
    set_timeout(move || wake.send(()).unwrap_or_default(), duration);
    // The timer keeps the sender until it fires.
    let _ = woken.await;
}

/// The files of a file list.
pub(crate) fn files(list: Option<web_sys::FileList>) -> Vec<web_sys::File> {
    list.into_iter().flat_map(|list| (0..list.length()).filter_map(move |index| list.get(index))).collect()
}

/// The query parameters of the page's address, for the agent.
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
