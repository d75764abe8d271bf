//! The methods of the chat that actions of the page can call.

use crate::actions::Actions;
use crate::agent_chat::session::queue::MAX_QUEUED;
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::prelude::*;
use crate::texts::{self, Text, t};
use serde_json::Value;

impl Session {
    /// Registers the methods with the page's actions.
    pub(in crate::agent_chat::session) fn register_methods(self) {
        let Some(actions) = use_context::<Actions>() else { return };
        let block_id = self.block.with_value(|place| place.block_id.clone());
        actions.register_methods(block_id, move |method, args| self.call_method(method, args));
    }

    fn call_method(self, method: &str, args: &[Value]) -> Result<(), String> {
        if self.is_disposed() {
            return Err(t(Text::ChatNotReady).to_owned());
        }
        let is_kept = || self.id.with_untracked(Option::is_some) && self.chat.state_id().is_some();
        match method {
            "newConversation" | "clearMessages" | "setMessages" if is_kept() => {
                return Err("The page's state selects the conversation: give it another id with `SetState`.".to_owned());
            }
            "sendMessage" => {
                let has_text = text_argument(args).is_some_and(|text| !text.trim().is_empty());
                let files = args.first().and_then(|first| first.get("files")?.as_array());
                if !has_text && files.is_none_or(Vec::is_empty) {
                    return Err(t(Text::NothingToSend).to_owned());
                }
                if self.queue.with_untracked(Vec::len) >= MAX_QUEUED {
                    return Err(texts::fill_count(Text::QueueFull, MAX_QUEUED));
                }
                self.show_drawer(true);
                self.dispatch(SessionAction::SendForPage(args[0].clone()));
            }
            "setInput" => self.fill_in(text_argument(args).unwrap_or_default()),
            "focus" => self.ask_for_focus(),
            "stop" => self.dispatch(SessionAction::Stop),
            "regenerate" => self.dispatch(SessionAction::Regenerate(message_id_argument(args))),
            "deleteMessage" => {
                let id = message_id_argument(args).ok_or_else(|| "`deleteMessage` needs a `messageId`.".to_owned())?;
                if !self.can_delete(&id) {
                    return Err("This conversation has no such message, or an answer is being written.".to_owned());
                }
                self.dispatch(SessionAction::DeleteMessage(id));
            }
            "setMessages" => {
                if self.phase.get_untracked() != Phase::Idle {
                    return Err(t(Text::AnswerBeingWritten).to_owned());
                }
                let first = args.first().cloned().unwrap_or_default();
                self.dispatch(SessionAction::SetMessages(first.get("messages").cloned().unwrap_or(first)));
            }
            // There is no conversation to leave yet, so the preset messages are removed.
            "newConversation" | "clearMessages" if self.is_only_preset() => {
                self.dispatch(SessionAction::SetMessages(Value::Null))
            }
            "newConversation" | "clearMessages" => self.chat.select(None, false),
            "clearError" => self.problem.set(None),
            "open" => self.show_drawer(true),
            "close" => self.show_drawer(false),
            "scrollToBottom" => self.scroll_requests.update(|count| *count += 1),
            other => return Err(format!("The chat has no method `{other}`.")),
        }
        Ok(())
    }

    /// Whether messages are shown although no conversation exists yet.
    fn is_only_preset(self) -> bool {
        self.id.with_untracked(Option::is_none) && !self.messages.with_untracked(Vec::is_empty)
    }

    /// Opens or closes the drawer, if the chat is in one.
    fn show_drawer(self, shown: bool) {
        self.block.with_value(|place| place.drawer_open.set(shown));
    }

    /// Replaces the content of the composer by a text.
    pub(in crate::agent_chat) fn fill_in(self, text: String) {
        self.draft.set(text);
        self.ask_for_focus();
    }

    fn ask_for_focus(self) {
        self.show_drawer(true);
        self.focus_requests.update(|count| *count += 1);
    }
}

/// The text argument of a call: its first argument, or the `text` field of it.
fn text_argument(args: &[Value]) -> Option<String> {
    let first = args.first()?;
    first.get("text").unwrap_or(first).as_str().map(str::to_owned)
}

/// The message argument of a call: its first argument, or the `messageId` field of it.
fn message_id_argument(args: &[Value]) -> Option<String> {
    let first = args.first()?;
    first.get("messageId").unwrap_or(first).as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::text_argument;
    use serde_json::json;

    #[test]
    fn a_text_argument_is_a_string_or_a_text_field() {
        for (args, expected) in [
            (vec![json!("Hi")], Some("Hi")),
            (vec![json!({ "text": "Hi" }), json!(1)], Some("Hi")),
            (vec![json!(7)], None),
            (vec![], None),
        ] {
            assert_eq!(text_argument(&args).as_deref(), expected);
        }
    }
}
