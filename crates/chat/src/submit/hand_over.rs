//! Handing a conversation over to another agent: an act of its owner, which the conversation shows.

use crate::errors::{self, Result};
use crate::ids;
use crate::record::audit;
use crate::submit::{content, plan};
use crate::{Caller, Chat, Inner};
use serde_json::json;
use store::{AuditEntry, AuditOutcome, Conversation};
use transcript::chunks;
use wire::chunk::DataChunk;
use wire::message::DataPart;
use wire::{HANDED_OVER, Role, ToolPart, UiMessage, UiPart, UserError};

/// The reason why an open call of another branch has no result.
const HANDED_ON: &str = "The user handed the conversation over to another agent.";
/// The note for the new agent's model. It names no agent, because users choose the names of their own.
const NOTE: &str = "The user has handed this conversation over to you. Another agent wrote the answers before this: its \
                    instructions do not hold for you, and you may not have the tools that it called.";

/// The agent that answers in a conversation from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The agent, which the caller may use.
    pub agent_id: String,
    /// The page on which the user goes on.
    pub page_id: String,
}

/// The outcome of a [`HandOver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOverOutcome {
    /// The conversation is with the agent.
    HandedOver,
    /// It was with that agent before, so nothing was changed.
    Unchanged,
}

impl Chat {
    /// Hands a conversation over to another agent, at the end of the active branch. `line` returns what the
    /// conversation shows, for the agent that it is with. Nothing that waits in another branch goes on, and no
    /// interrupted call is repeated: both would happen with the tools of the new agent. Whether the caller may use
    /// that agent is not checked here.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own, 409 while an answer is being written or waits for the
    /// user.
    pub async fn hand_over(
        &self,
        caller: &Caller,
        id: &str,
        to: HandOver,
        line: impl FnOnce(&str) -> String + Send,
    ) -> Result<HandOverOutcome, UserError> {
        Ok(self.inner.hand_over(caller, id, to, line).await?)
    }
}

impl Inner {
    /// See [`Chat::hand_over`].
    async fn hand_over(
        &self,
        caller: &Caller,
        id: &str,
        to: HandOver,
        line: impl FnOnce(&str) -> String + Send,
    ) -> Result<HandOverOutcome> {
        ids::check_id("/id", id).map_err(|_| UserError::not_found())?;
        // Holds the lock, so that what is read below does not change before it is written.
        let _turn = self.conversation_locks.lock(&self.store, id).await?;
        let conversation = self.store.conversation(&caller.user_id, id).await?;
        let conversation = conversation.ok_or_else(UserError::not_found)?;
        let from = conversation.summary.agent_id.clone();
        if from == to.agent_id {
            return Ok(HandOverOutcome::Unchanged);
        }
        if conversation.active_run.is_some() {
            return Err(errors::busy().into());
        }
        self.check_nothing_waits(caller, &conversation).await?;
        let (update, mut audit) = self.close_branches(caller, &conversation).await?;
        audit.push(audit_row(caller, &conversation, &to));
        let change = store::HandOver {
            conversation_id: id.to_owned(),
            message: shown(&from, &to.agent_id, &line(&from)),
            from,
            to: to.agent_id,
            page_id: to.page_id,
            update,
            audit,
            now: self.clock.now(),
        };
        self.store.hand_over(&caller.user_id, change).await?;
        Ok(HandOverOutcome::HandedOver)
    }

    /// Fails if the newest answer waits for the user, who would lose the question.
    async fn check_nothing_waits(&self, caller: &Caller, conversation: &Conversation) -> Result<()> {
        let (id, agent_id) = (&conversation.summary.id, &conversation.summary.agent_id);
        let mut branch = self.store.branch(&caller.user_id, id).await?;
        let Some(last) = branch.last_mut() else { return Ok(()) };
        self.expire(caller, agent_id, id, last).await?;
        if plan::left_behind(last).is_some() { Err(errors::waits_for_user().into()) } else { Ok(()) }
    }

    /// Closes what waits in other branches, and keeps interrupted calls from being repeated. Returns the changed
    /// messages, and the audit entries of the calls that end.
    async fn close_branches(
        &self,
        caller: &Caller,
        conversation: &Conversation,
    ) -> Result<(Vec<UiMessage>, Vec<AuditEntry>)> {
        let messages = self.store.messages(&caller.user_id, &conversation.summary.id).await?;
        let is_waiting = |message: &UiMessage| message.tools().any(audit::is_open);
        let (waiting, others): (Vec<_>, Vec<_>) = messages.into_iter().partition(|stored| is_waiting(&stored.message));
        let (mut update, audit) = self.close(caller, conversation, waiting.into_iter(), HANDED_ON).await?;
        let others = others.into_iter().map(|stored| stored.message);
        update.extend(others.filter(|message| message.tools().any(ToolPart::repeats_on_continue)));
        for message in &mut update {
            message.parts.iter_mut().filter_map(UiPart::as_tool_mut).for_each(ToolPart::prevent_repeat);
        }
        Ok((update, audit))
    }
}

/// Returns the message that shows the act, with what the model reads of it.
fn shown(from: &str, to: &str, line: &str) -> UiMessage {
    let DataChunk { kind, id, data, .. } = chunks::prompt_note(NOTE);
    let note = DataPart { kind, id, data };
    let data = json!({ "from": from, "to": to, "text": line });
    let shown = DataPart { kind: HANDED_OVER.to_owned(), id: None, data };
    UiMessage {
        metadata: content::created_now(),
        parts: vec![UiPart::Data(note), UiPart::Data(shown)],
        ..UiMessage::new(ids::new_id(), Role::Assistant)
    }
}

fn audit_row(caller: &Caller, conversation: &Conversation, to: &HandOver) -> AuditEntry {
    let arguments = json!({ "from": conversation.summary.agent_id, "to": to.agent_id, "pageId": to.page_id });
    AuditEntry {
        at: crate::now(),
        user_id: caller.user_id.clone(),
        agent_id: String::new(),
        conversation_id: conversation.summary.id.clone(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: uuid::Uuid::now_v7().to_string(),
        tool: "conversation:hand_over".to_owned(),
        arguments,
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}
