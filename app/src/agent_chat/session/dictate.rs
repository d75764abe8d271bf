//! Dictation, over the server or in browsers with speech recognition.

use super::Session;
use crate::agent_chat::composer::speech;
use crate::agent_chat::composer::types::OpenForm;
use crate::prelude::*;
use leptos::web_sys::HtmlElement;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

impl Session {
    /// Starts to write what the user says into the composer, or stops.
    pub(in crate::agent_chat) fn dictate(self) {
        if self.dictation_seconds().is_some() {
            return self.dictate_over_server();
        }
        if self.is_dictating.get_untracked() {
            speech::stop_recognition();
            return;
        }
        let before = self.draft.get_untracked();
        let heard = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
            let said = speech::transcript(&event);
            let gap = if before.is_empty() || before.ends_with(char::is_whitespace) { "" } else { " " };
            // The page may have been closed.
            self.draft.try_update(|draft| *draft = format!("{before}{gap}{said}"));
        });
        let end = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
            if let Some(why) = speech::recognition_error(&event) {
                self.composer_error.try_set(Some(why));
            }
            self.is_dictating.try_set(false);
        });
        let begun =
            speech::start_recognition(heard.into_js_value().unchecked_ref(), end.into_js_value().unchecked_ref());
        self.is_dictating.set(begun);
    }

    /// Opens the panel for dictation. If it is open, ends the recording, as its first button does.
    fn dictate_over_server(self) {
        if self.open_form.with_untracked(|form| *form != Some(OpenForm::Dictation)) {
            return self.open_form.set(Some(OpenForm::Dictation));
        }
        let first = document().query_selector("cw-voice[data-state=listening] button").ok().flatten();
        if let Some(button) = first.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
            button.click();
        }
    }
}
