//! Reading aloud, by the browser.

use leptos::prelude::*;
use leptos::web_sys::SpeechSynthesisUtterance;

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
