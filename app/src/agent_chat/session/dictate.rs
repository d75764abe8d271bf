//! Words that are spoken, where the browser understands them.

use super::Session;
use crate::agent_chat::speech;
use crate::prelude::*;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

impl Session {
    /// Writes what the user says into the composer, or ends that.
    pub(in crate::agent_chat) fn dictate(self) {
        if self.hearing.get_untracked() {
            speech::stop_hearing();
            return;
        }
        let before = self.draft.get_untracked();
        let heard = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
            let said = speech::said(&event);
            let gap = if before.is_empty() || before.ends_with(char::is_whitespace) { "" } else { " " };
            // The page may have gone.
            self.draft.try_update(|draft| *draft = format!("{before}{gap}{said}"));
        });
        let end = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
            if let Some(why) = speech::hearing_error(&event) {
                self.refusal.try_set(Some(why));
            }
            self.hearing.try_set(false);
        });
        let begun = speech::hear(heard.into_js_value().unchecked_ref(), end.into_js_value().unchecked_ref());
        self.hearing.set(begun);
    }
}
