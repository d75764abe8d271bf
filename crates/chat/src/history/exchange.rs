//! Exchanges of programs with agents that are kept as conversations.

use crate::errors::Result;
use crate::history::tree::MessageTree;
use crate::ids::check_id;
use crate::run::finish::settle_texts;
use crate::{Caller, Chat, Inner};
use store::{AddMessages, AlsoWrite, NewMessage};
use transcript::exposure;
use wire::{Role, UiMessage, UiPart, UserError};

/// The error of a call whose result the program has not sent.
const NO_RESULT: &str = "The program that asked has not sent a result yet.";

/// The messages between a program and an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The conversation; created if it does not exist.
    pub conversation_id: String,
    /// The page of a new conversation.
    pub page_id: String,
    /// The agent of a new conversation.
    pub agent_id: String,
    /// The title of a new conversation.
    pub title: String,
    /// The message below which they are added; the first messages of a branch if absent.
    pub parent_id: Option<String>,
    /// The messages, oldest first. Calls without a result get an error.
    pub messages: Vec<UiMessage>,
}

impl Chat {
    /// Keeps what a program and an agent have exchanged as a branch of a conversation, which becomes the
    /// active one unless an answer is being written. `also` is written in the same transaction.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own, 422 for an invalid id, 503 if the store fails.
    pub async fn keep_exchange(&self, caller: &Caller, exchange: Exchange, also: AlsoWrite) -> Result<(), UserError> {
        Ok(self.inner.keep_exchange(caller, exchange, also).await?)
    }

    /// Returns the branch of a conversation that ends with a message, oldest first.
    ///
    /// # Errors
    /// 404 for an unknown message and for a conversation that the caller does not own.
    pub async fn branch_to(
        &self,
        caller: &Caller,
        conversation_id: &str,
        message_id: &str,
    ) -> Result<Vec<UiMessage>, UserError> {
        Ok(self.inner.branch_to(caller, conversation_id, message_id).await?)
    }
}

impl Inner {
    /// See [`Chat::keep_exchange`].
    async fn keep_exchange(&self, caller: &Caller, exchange: Exchange, also: AlsoWrite) -> Result<()> {
        let Exchange { conversation_id, page_id, agent_id, title, mut parent_id, messages } = exchange;
        check_id("/conversationId", &conversation_id)?;
        let _turn = self.conversation_locks.lock(&self.store, &conversation_id).await?;
        let mut insert = Vec::new();
        for mut message in messages {
            settle(&mut message);
            let id = message.id.clone();
            insert.push(NewMessage { parent_id: parent_id.replace(id), message });
        }
        let now = self.clock.now();
        let add = AddMessages { conversation_id, page_id, agent_id, title, insert, now };
        Ok(self.store.add_branch(&caller.user_id, add, also).await?)
    }

    /// See [`Chat::branch_to`].
    async fn branch_to(&self, caller: &Caller, conversation_id: &str, message_id: &str) -> Result<Vec<UiMessage>> {
        // A deleted message can be restored for some time, and is not there until then.
        let tree = MessageTree::new(self.store.outline(&caller.user_id, conversation_id).await?);
        let branch = self.store.branch_to(&caller.user_id, conversation_id, message_id).await?;
        if branch.is_empty() || !tree.has(message_id) {
            return Err(UserError::not_found().into());
        }
        Ok(branch.into_iter().map(|stored| stored.message).collect())
    }
}

/// Closes the texts and the open calls of a message. Where results of tools come from is not known
/// later, so they count as private and as text from outside.
fn settle(message: &mut UiMessage) {
    if message.role != Role::Assistant {
        return;
    }
    settle_texts(message);
    for tool in message.parts.iter_mut().filter_map(UiPart::as_tool_mut) {
        if !tool.is_final() {
            tool.state = wire::ToolState::OutputError;
            tool.error_text = Some(NO_RESULT.to_owned());
            (tool.output, tool.preliminary, tool.approval) = (None, None, None);
        }
        tool.prevent_repeat();
    }
    if exposure::has_results(message) {
        exposure::mark_preset(message);
    }
}
