//! Messages that a page sets for a new conversation. The server stores them with the first message
//! that is sent; until then they exist only in the browser.

use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::session::{Phase, Session};
use crate::prelude::*;
use crate::ui::browser;
use serde_json::{Value, json};
use wire::{Role, UiMessage, UiPart};

impl Session {
    /// Sets the messages from the page's property: at first, if no conversation is open, and
    /// whenever they change.
    pub(in crate::agent_chat) fn watch_messages_property(self, expression: &Value, first: &Value) {
        let is_open =
            self.id.with_untracked(Option::is_some) || self.messages.with_untracked(|shown| !shown.is_empty());
        if self.accept_given(expression, first) && !first.is_null() && !is_open && !self.has_preset() {
            self.set_messages(first);
        }
        let (expression, mut before) = (expression.clone(), first.clone());
        Effect::new(move |_| {
            let given = self.scope.evaluate(&expression).unwrap_or_default();
            if before == given {
                return;
            }
            before = given;
            untrack(|| {
                if self.accept_given(&expression, &before) {
                    self.set_messages(&before);
                }
            });
        });
    }

    /// Records these messages as given for this conversation. Returns `false` if they were given for another one, before
    /// the page's state selected this one: then this one must not start with them. A list that the config contains
    /// applies to every conversation.
    fn accept_given(self, expression: &Value, given: &Value) -> bool {
        if !self.chat.is_bound_to_state() || expression.is_array() {
            return true;
        }
        let id = self.chat.state_id();
        let last = self.block.with_value(|place| place.given_messages);
        let is_accepted = last.try_update_value(|last| match last {
            Some((of, known)) if known == given && *of != id => false,
            _ => {
                *last = Some((id, given.clone()));
                true
            }
        });
        is_accepted.unwrap_or(false)
    }

    /// Starts a new conversation with these messages; without any, an empty one. A conversation that
    /// the page's state selects is not replaced: if it exists, the server's copy is shown.
    pub(in crate::agent_chat::session) fn set_messages(self, given: &Value) {
        let is_begun = self.id.with_untracked(Option::is_some);
        if self.chat.state_id().is_some() && (is_begun || self.phase.get_untracked() != Phase::Idle) {
            return;
        }
        let messages = parse_messages(given, browser::random_id);
        self.block.with_value(|place| place.preset_messages.set_value(messages));
        if is_begun {
            // The session that replaces this one shows them.
            self.chat.select(None, false);
        } else {
            self.show_preset();
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

/// Parses messages in the form of the AI SDK: with all their parts, and with their own ids where
/// these are unique ids of this server's form. Left out are messages without content, calls without
/// a result, because nobody waits for one, and what only the server may write.
fn parse_messages(given: &Value, new_id: fn() -> String) -> Vec<UiMessage> {
    let mut messages: Vec<UiMessage> = Vec::new();
    for own in given.as_array().into_iter().flatten() {
        let Some(mut message) = parse_message(own) else { continue };
        if message.id.is_empty() || messages.iter().any(|known| known.id == message.id) {
            message.id = new_id();
        }
        messages.push(message);
    }
    messages
}

/// Parses a message; its id is empty if it has none that can be kept.
fn parse_message(given: &Value) -> Option<UiMessage> {
    let role = match given.get("role")?.as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let id = given.get("id").and_then(Value::as_str).filter(|id| wire::is_id(id));
    let mut message = UiMessage::new(id.unwrap_or_default(), role);
    let created_at = given.get("metadata").and_then(|metadata| metadata.get("createdAt")?.as_i64());
    message.metadata = created_at.map(|at| json!({ "createdAt": at }));
    let parts = given.get("parts")?.as_array()?.iter().filter_map(|part| serde_json::from_value(part.clone()).ok());
    message.parts = parts.filter(is_kept).collect();
    (!message.parts.is_empty()).then_some(message)
}

fn is_kept(part: &UiPart) -> bool {
    match part {
        UiPart::Text(text) => !text.text.is_empty(),
        UiPart::Tool(tool) => tool.is_final(),
        // A question or an app of a tool would stand for a server.
        UiPart::Data(data) => {
            !wire::is_private(&data.kind) && data.kind != wire::TOOL_QUESTION && data.kind != wire::MCP_APP
        }
        UiPart::Other(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_page_keep_their_parts_and_ids() {
        let call =
            |state: &str| json!({ "type": "tool-search", "toolCallId": "c", "state": state, "input": {}, "output": 1 });
        let file = json!({ "type": "file", "mediaType": "text/plain", "url": "https://a.example/x", "filename": "x" });
        let source = json!({ "type": "source-url", "sourceId": "s", "url": "https://a.example" });
        let given = json!([
            { "id": "q-1", "role": "user", "parts": [{ "type": "text", "text": "Where?" }, file], "metadata": { "createdAt": 5, "outcome": "failed" } },
            { "id": "a-1", "role": "assistant", "parts": [
                { "type": "reasoning", "text": "Hm." }, call("output-available"), call("input-available"), source,
                { "type": "data-mood", "data": 1 }, { "type": "unknown" }, { "no": "type" }, { "type": "text", "text": "" },
            ] },
            { "id": "q-1", "role": "user", "parts": [{ "type": "text", "text": "Again" }] },
            { "id": "a/2", "role": "assistant", "parts": [{ "type": "text", "text": "Yes" }] },
            { "role": "assistant", "parts": [] },
            { "role": "system", "parts": [{ "type": "text", "text": "Obey." }] },
        ]);
        let read = parse_messages(&given, || "new".to_owned());
        let parts = |message: &UiMessage| -> Vec<String> {
            let part = |part: &UiPart| json!(part)["type"].as_str().unwrap().to_owned();
            message.parts.iter().map(part).collect()
        };
        assert_eq!((read.len(), read[3].id.as_str()), (4, "new"));
        assert_eq!((read[0].id.as_str(), parts(&read[0])), ("q-1", vec!["text".to_owned(), "file".to_owned()]));
        assert_eq!(read[0].metadata, Some(json!({ "createdAt": 5 })));
        assert_eq!(read[1].id, "a-1");
        assert_eq!(parts(&read[1]), ["reasoning", "tool-search", "source-url", "data-mood"]);
        assert_eq!(read[2].id, "new");
    }
}
