//! What actions of the page can ask of the chat (L-92).

use super::{Act, Phase, Session};
use crate::actions::Actions;
use crate::prelude::*;
use crate::texts::{Text, t};
use serde_json::Value;

impl Session {
    /// Makes the methods known to the page's actions.
    pub(super) fn offer_methods(self) {
        let Some(actions) = use_context::<Actions>() else { return };
        let block_id = self.place.with_value(|place| place.block_id.clone());
        actions.offer(block_id, move |method, args| self.call(method, args));
    }

    fn call(self, method: &str, args: &[Value]) -> Result<(), String> {
        if self.is_gone() {
            return Err(t(Text::ChatNotReady).to_owned());
        }
        match method {
            "sendMessage" => {
                let text = text(args).filter(|text| !text.trim().is_empty());
                let text = text.ok_or_else(|| t(Text::NothingToSend).to_owned())?;
                if self.phase.get_untracked() != Phase::Idle {
                    return Err(t(Text::AnswerBeingWritten).to_owned());
                }
                self.show_drawer(true);
                self.act(Act::SendText(text));
            }
            "setInput" => self.fill_in(text(args).unwrap_or_default()),
            "focus" => self.ask_for_focus(),
            "stop" => self.act(Act::Stop),
            "regenerate" => self.act(Act::Regenerate(id(args))),
            "deleteMessage" => {
                let id = id(args).ok_or_else(|| "Which message? Give its `messageId`.".to_owned())?;
                if !self.can_delete(&id) {
                    return Err("There is no such message here, or an answer is being written.".to_owned());
                }
                self.act(Act::DeleteMessage(id));
            }
            "setMessages" => {
                if self.phase.get_untracked() != Phase::Idle {
                    return Err(t(Text::AnswerBeingWritten).to_owned());
                }
                let first = args.first().cloned().unwrap_or_default();
                self.act(Act::SetMessages(first.get("messages").cloned().unwrap_or(first)));
            }
            // Nothing leads away from messages that nobody has answered: they are taken out.
            "newConversation" | "clearMessages" if self.is_only_preset() => self.act(Act::SetMessages(Value::Null)),
            "newConversation" | "clearMessages" => self.chat.select(None, false),
            "clearError" => self.problem.set(None),
            "open" => self.show_drawer(true),
            "close" => self.show_drawer(false),
            "scrollToBottom" => self.to_end.update(|count| *count += 1),
            other => return Err(format!("The chat cannot do `{other}`.")),
        }
        Ok(())
    }

    /// Whether messages are shown of a conversation that has not begun.
    fn is_only_preset(self) -> bool {
        self.id.with_untracked(Option::is_none) && !self.messages.with_untracked(Vec::is_empty)
    }

    /// Whoever wants it to be used wants it to be seen.
    fn show_drawer(self, shown: bool) {
        self.place.with_value(|place| place.open.set(shown));
    }

    /// Puts a text into the composer, in the place of what stands there.
    pub(in crate::agent_chat) fn fill_in(self, text: String) {
        self.draft.set(text);
        self.ask_for_focus();
    }

    fn ask_for_focus(self) {
        self.show_drawer(true);
        self.focus.update(|count| *count += 1);
    }
}

/// The text of a call: its first argument, or that one's `text`.
fn text(args: &[Value]) -> Option<String> {
    let first = args.first()?;
    first.get("text").unwrap_or(first).as_str().map(str::to_owned)
}

/// The message that a call names: its first argument, or that one's `messageId`.
fn id(args: &[Value]) -> Option<String> {
    let first = args.first()?;
    first.get("messageId").unwrap_or(first).as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn a_text_is_given_as_it_is_or_by_name() {
        for (args, expected) in [
            (vec![json!("Hi")], Some("Hi")),
            (vec![json!({ "text": "Hi" }), json!(1)], Some("Hi")),
            (vec![json!(7)], None),
            (vec![], None),
        ] {
            assert_eq!(text(&args).as_deref(), expected);
        }
    }
}
