//! Messages that a page puts into the chat (L-92): a new conversation begins with them. The server takes them over, text only, with the
//! first message that is sent; until then they are nowhere but here.

use super::{Act, Phase, Session};
use crate::agent_chat::browser;
use crate::agent_chat::message_state::MessageState;
use crate::prelude::*;
use serde_json::Value;
use wire::{Role, TextPart, UiMessage, UiPart};

impl Session {
    /// Puts in what the page's property says: now, if nothing is open, and whenever it changes.
    pub(super) fn follow_messages(self) {
        let Some(expression) = self.place.with_value(|place| place.properties.messages.clone()) else { return };
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
                // Nothing leads away from messages that nobody has answered: they are taken out.
                given => self.act(Act::SetMessages(given)),
            });
        });
    }

    /// Begins a new conversation with these messages; with none, an empty one.
    pub(super) fn set_messages(self, given: &Value) {
        let messages: Vec<_> = given.as_array().into_iter().flatten().filter_map(read).collect();
        self.place.with_value(|place| place.preset.set_value(messages));
        match self.id.get_untracked() {
            // Another session takes the place of this one, and shows them.
            Some(_) => self.chat.select(None, false),
            None => self.show_preset(),
        }
    }

    /// Shows what was put into the chat before this conversation began.
    pub(super) fn show_preset(self) {
        let preset = self.place.with_value(|place| place.preset);
        if self.phase.get_untracked() != Phase::Idle || self.id.with_untracked(Option::is_some) {
            return;
        }
        let messages = preset.try_update_value(std::mem::take).unwrap_or_default();
        self.messages.set(messages.iter().map(MessageState::new).collect());
        // What was refused before this belongs to another conversation.
        self.inner.update_value(|inner| (inner.history, inner.next_id, inner.unsent) = (messages, None, None));
    }
}

/// A message as the AI SDK writes it; what is not text is left out, as the server does.
fn read(given: &Value) -> Option<UiMessage> {
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
