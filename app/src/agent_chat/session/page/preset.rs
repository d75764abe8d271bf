//! Messages that a page sets for a new conversation. The server stores their text with the first
//! message that is sent; until then they exist only in the browser.

use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::prelude::*;
use crate::ui::browser;
use serde_json::Value;
use wire::{Role, TextPart, UiMessage, UiPart};

impl Session {
    /// Sets the messages from the page's property: at first, if no conversation is open, and
    /// whenever they change.
    pub(in crate::agent_chat::session) fn watch_messages_property(self) {
        let Some(expression) = self.block.with_value(|place| place.properties.messages.clone()) else { return };
        let mut before = None;
        Effect::new(move |_| {
            let given = self.scope.evaluate(&expression).unwrap_or_default();
            let is_first = before.is_none();
            if before.as_ref() == Some(&given) {
                return;
            }
            before = Some(given.clone());
            let is_begun = || self.id.with_untracked(Option::is_some);
            let is_shown = || !self.messages.with_untracked(Vec::is_empty);
            let is_open = || is_begun() || is_shown() || self.has_preset();
            if is_first && (given.is_null() || untrack(is_open)) {
                return;
            }
            untrack(|| match given {
                Value::Null if is_begun() => self.chat.select(None, false),
                // There is no conversation to leave yet, so the preset messages are removed.
                given => self.dispatch(SessionAction::SetMessages(given)),
            });
        });
    }

    /// Starts a new conversation with these messages; without any, an empty one.
    pub(in crate::agent_chat::session) fn set_messages(self, given: &Value) {
        let messages: Vec<_> = given.as_array().into_iter().flatten().filter_map(parse_message).collect();
        self.block.with_value(|place| place.preset_messages.set_value(messages));
        match self.id.get_untracked() {
            // The session that replaces this one shows them.
            Some(_) => self.chat.select(None, false),
            None => self.show_preset(),
        }
    }

    /// Shows the messages that were set before this conversation began.
    pub(in crate::agent_chat::session) fn show_preset(self) {
        let preset = self.block.with_value(|place| place.preset_messages);
        if self.phase.get_untracked() != Phase::Idle || self.id.with_untracked(Option::is_some) {
            return;
        }
        let messages = preset.try_update_value(std::mem::take).unwrap_or_default();
        self.messages.set(messages.iter().map(MessageState::new).collect());
        // A rejected message from before belongs to another conversation.
        self.inner.update_value(|inner| (inner.history, inner.next_id, inner.unsent_message) = (messages, None, None));
    }
}

/// Parses a message in the format of the AI SDK. As on the server, parts other than text are
/// omitted.
fn parse_message(given: &Value) -> Option<UiMessage> {
    let role = match given.get("role")?.as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let mut message = UiMessage::new(browser::random_id(), role);
    for part in given.get("parts")?.as_array()? {
        if part.get("type").is_some_and(|kind| kind == "text") {
            let text = part.get("text")?.as_str()?.to_owned();
            message.parts.push(UiPart::Text(TextPart { text, ..TextPart::default() }));
        }
    }
    (!message.parts.is_empty()).then_some(message)
}
