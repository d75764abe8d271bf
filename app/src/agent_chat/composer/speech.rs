//! The browser's speech synthesis and speech recognition.

use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::web_sys::SpeechSynthesisUtterance;
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};

/// Whether a text is being read aloud.
pub(in crate::agent_chat) fn is_speaking() -> bool {
    window().speech_synthesis().is_ok_and(|speech| speech.speaking())
}

/// Reads a text aloud, or stops reading.
pub(in crate::agent_chat) fn toggle_reading(text: &str) {
    let Ok(speech) = window().speech_synthesis() else { return };
    let was_speaking = speech.speaking();
    speech.cancel();
    if let (false, Ok(utterance)) = (was_speaking, SpeechSynthesisUtterance::new_with_text(text)) {
        speech.speak(&utterance);
    }
}

/// Stops reading.
pub(in crate::agent_chat) fn stop_reading() {
    if is_speaking() {
        let _ = window().speech_synthesis().map(|speech| speech.cancel());
    }
}

thread_local! {
    /// The active recognition. Accessed by name, because `web-sys` offers it only behind an
    /// unstable flag, and browsers use two names.
    static RECOGNITION: RefCell<Option<JsValue>> = const { RefCell::new(None) };
}

/// Whether the browser supports speech recognition.
pub(in crate::agent_chat) fn can_recognize() -> bool {
    recognizer().is_some()
}

fn recognizer() -> Option<js_sys::Function> {
    let of_window = |name: &str| js_sys::Reflect::get(&window(), &JsValue::from_str(name)).ok()?.dyn_into().ok();
    of_window("SpeechRecognition").or_else(|| of_window("webkitSpeechRecognition"))
}

/// Starts recognition; `heard` is called with each result event, `end` with error and end events.
/// False if it cannot start.
pub(in crate::agent_chat) fn start_recognition(heard: &js_sys::Function, end: &js_sys::Function) -> bool {
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
        RECOGNITION.with_borrow_mut(|now| *now = Some(hearing));
        Some(())
    };
    begun().is_some()
}

/// Stops recognition; results of what was said before are still delivered.
pub(in crate::agent_chat) fn stop_recognition() {
    if let Some(hearing) = RECOGNITION.with_borrow_mut(Option::take) {
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

/// The text recognized so far.
pub(in crate::agent_chat) fn transcript(event: &JsValue) -> String {
    let Some(results) = get(event, "results") else { return String::new() };
    let count = get(&results, "length").and_then(|length| length.as_f64()).unwrap_or_default() as u32;
    let text = |index: u32| get(&get(&get(&results, &index.to_string())?, "0")?, "transcript")?.as_string();
    (0..count).filter_map(text).collect()
}

/// The error with which recognition ended, if the user can do something about it.
pub(in crate::agent_chat) fn recognition_error(event: &JsValue) -> Option<String> {
    let error = get(event, "error")?.as_string()?;
    let why = match error.as_str() {
        "not-allowed" | "service-not-allowed" => t(Text::NoMicrophoneRight),
        "audio-capture" => t(Text::NoMicrophone),
        "network" => t(Text::NoSpeechService),
        _ => return None,
    };
    Some(why.to_owned())
}
