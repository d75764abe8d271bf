//! Reading aloud and hearing, by the browser.

use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::web_sys::SpeechSynthesisUtterance;
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};

/// Whether something is being read.
pub(super) fn is_speaking() -> bool {
    window().speech_synthesis().is_ok_and(|speech| speech.speaking())
}

/// Reads a text, or ends what is being read.
pub(super) fn toggle(text: &str) {
    let Ok(speech) = window().speech_synthesis() else { return };
    let was_speaking = speech.speaking();
    speech.cancel();
    if let (false, Ok(utterance)) = (was_speaking, SpeechSynthesisUtterance::new_with_text(text)) {
        speech.speak(&utterance);
    }
}

/// Ends what is being read.
pub(super) fn stop() {
    if is_speaking() {
        let _ = window().speech_synthesis().map(|speech| speech.cancel());
    }
}

thread_local! {
    /// What is hearing now. By name: `web-sys` has it only under an unstable flag, and browsers under two names.
    static HEARING: RefCell<Option<JsValue>> = const { RefCell::new(None) };
}

/// Whether the browser understands what is said.
pub(super) fn can_hear() -> bool {
    recognizer().is_some()
}

fn recognizer() -> Option<js_sys::Function> {
    let of_window = |name: &str| js_sys::Reflect::get(&window(), &JsValue::from_str(name)).ok()?.dyn_into().ok();
    of_window("SpeechRecognition").or_else(|| of_window("webkitSpeechRecognition"))
}

/// Begins to hear; `heard` is called with each event of words, `end` with that of an error and that of the end. False when it cannot.
pub(super) fn hear(heard: &js_sys::Function, end: &js_sys::Function) -> bool {
    let begun = || {
        let hearing = js_sys::Reflect::construct(&recognizer()?, &js_sys::Array::new()).ok()?;
        let settings: [(&str, &JsValue); 5] = [
            ("interimResults", &JsValue::TRUE),
            ("continuous", &JsValue::TRUE),
            ("onresult", heard),
            ("onerror", end),
            ("onend", end),
        ];
        for (name, value) in settings {
            js_sys::Reflect::set(&hearing, &JsValue::from_str(name), value).ok()?;
        }
        call(&hearing, "start")?;
        HEARING.with_borrow_mut(|now| *now = Some(hearing));
        Some(())
    };
    begun().is_some()
}

/// Ends hearing; what was said is still told.
pub(super) fn stop_hearing() {
    if let Some(hearing) = HEARING.with_borrow_mut(Option::take) {
        call(&hearing, "stop");
    }
}

fn call(of: &JsValue, method: &str) -> Option<JsValue> {
    let method: js_sys::Function = get(of, method)?.dyn_into().ok()?;
    method.call0(of).ok()
}

fn get(of: &JsValue, name: &str) -> Option<JsValue> {
    js_sys::Reflect::get(of, &JsValue::from_str(name)).ok().filter(|value| !value.is_undefined())
}

/// All that was said so far.
pub(super) fn said(event: &JsValue) -> String {
    let Some(results) = get(event, "results") else { return String::new() };
    let count = get(&results, "length").and_then(|length| length.as_f64()).unwrap_or_default() as u32;
    let text = |index: u32| get(&get(&get(&results, &index.to_string())?, "0")?, "transcript")?.as_string();
    (0..count).filter_map(text).collect()
}

/// Why hearing ended, if that was an error that the user can do something about.
pub(super) fn hearing_error(event: &JsValue) -> Option<String> {
    let error = get(event, "error")?.as_string()?;
    let why = match error.as_str() {
        "not-allowed" | "service-not-allowed" => t(Text::NoMicrophoneRight),
        "audio-capture" => t(Text::NoMicrophone),
        "network" => t(Text::NoSpeechService),
        _ => return None,
    };
    Some(why.to_owned())
}
