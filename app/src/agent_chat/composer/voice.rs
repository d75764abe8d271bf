//! Dictation over the server, with a test of the microphone, and answers that the server reads aloud: a panel above the
//! composer. The element in it (`public/assets/lazy/voice.js`) records, asks the server and plays.

use super::form_panel::{close, panel};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::node::{Node, element, reactive_nodes};
use crate::ui::script::load_script;
use leptos::ev::Custom;
use leptos::web_sys::{CustomEvent, Element};
use serde_json::Value;
use wasm_bindgen::JsCast;
use wire::error::UserError;

/// The script with the element `cw-voice`.
const SCRIPT: &str = "/assets/lazy/voice.js";
/// The attribute with the id of the chat's block.
const BLOCK: &str = "block";
/// The event of the element when nothing is left to do; its detail says whether the composer gets the focus.
const DONE: &str = "cw-voice-done";
/// The event with an error of the server, as JSON.
const FAILED: &str = "cw-voice-failed";

/// Renders the panel for dictation.
pub(super) fn dictation(session: Session) -> AnyView {
    let seconds = session.dictation_seconds().unwrap_or_default().to_string();
    let settings = vec![("mode", "dictate".to_owned()), ("agent", session.agent_id()), ("seconds", seconds)];
    voice_panel(session, Text::Speak, settings)
}

/// Renders the panel that reads a message aloud.
pub(super) fn reading(session: Session, message: &str) -> AnyView {
    let conversation = session.id.get_untracked().unwrap_or_default();
    let settings = vec![("mode", "read".to_owned()), ("conversation", conversation), ("message", message.to_owned())];
    voice_panel(session, Text::ReadAloud, settings)
}

fn voice_panel(session: Session, title: Text, mut settings: Vec<(&'static str, String)>) -> AnyView {
    load_script(SCRIPT);
    settings.push((BLOCK, session.block_id()));
    let done = window_event_listener(Custom::<CustomEvent>::new(DONE), move |event: CustomEvent| {
        if !is_of(session, &event) {
            return;
        }
        session.composer_error.set(None);
        if event.detail().as_bool() == Some(true) {
            close(session);
        } else {
            session.open_form.set(None);
        }
    });
    let failed = window_event_listener(Custom::<CustomEvent>::new(FAILED), move |event: CustomEvent| {
        if !is_of(session, &event) {
            return;
        }
        let sent = event.detail().as_string().unwrap_or_default();
        session.composer_error.set(server_error(&sent));
    });
    on_cleanup(move || {
        done.remove();
        failed.remove();
    });
    let shown = move || vec![voice_element(&settings)];
    panel(session, t(title), reactive_nodes(shown))
}

/// Returns whether an event is from the panel of this chat: a page may have several chats.
fn is_of(session: Session, event: &CustomEvent) -> bool {
    let from = event.target().and_then(|from| from.dyn_into::<Element>().ok());
    from.and_then(|from| from.get_attribute(BLOCK)) == Some(session.block_id())
}

fn voice_element(settings: &[(&'static str, String)]) -> Node {
    let texts = [
        ("data-loading", Text::Loading),
        ("data-listening", Text::VoiceListening),
        ("data-writing", Text::VoiceWriting),
        ("data-nothing", Text::VoiceNothing),
        ("data-failed", Text::VoiceFailed),
        ("data-denied", Text::VoiceAllow),
        ("data-missing", Text::VoiceMissing),
        ("data-test", Text::VoiceTest),
        ("data-testing", Text::VoiceTesting),
        ("data-tested", Text::VoiceTested),
        ("data-pause", Text::VoicePause),
        ("data-resume", Text::Continue),
        ("data-insert", Text::PromptInsert),
        ("data-dictate", Text::Speak),
        ("data-retry", Text::Retry),
        ("data-cancel", Text::Cancel),
        ("data-stop", Text::Stop),
    ];
    let voice = settings.iter().fold(element("cw-voice"), |voice, &(name, ref value)| voice.attr(name, value.clone()));
    texts.into_iter().fold(voice, |voice, (name, text)| voice.attr(name, t(text)))
}

/// Returns the text of an error that the server has sent.
fn server_error(sent: &str) -> Option<String> {
    let mut sent: Value = serde_json::from_str(sent).ok()?;
    let error: UserError = serde_json::from_value(sent.get_mut("error")?.take()).ok()?;
    Some(error_text(&error))
}
