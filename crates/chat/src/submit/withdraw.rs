//! Ends an answer that waits for the user, without asking the agent again.

use crate::errors::{self, Result};
use crate::events::LifecycleEvent;
use crate::record::audit::{self, RunContext};
use crate::submit::plan;
use crate::{Caller, Chat, Inner, ids};
use wire::api::{MessageMetadata, Outcome};
use wire::{EndReason, UiMessage, UserError};

/// The reason in the audit log.
const WITHDRAWN: &str = "The user ended the answer instead of deciding.";

impl Chat {
    /// Ends the newest answer of a conversation, which waits for the user: its open calls are not made, and it counts
    /// as stopped. Returns false if it does not wait (any more).
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn withdraw(&self, caller: &Caller, conversation_id: &str, message_id: &str) -> Result<bool, UserError> {
        Ok(self.inner.withdraw(caller, conversation_id, message_id).await?)
    }
}

impl Inner {
    /// See [`Chat::withdraw`].
    async fn withdraw(&self, caller: &Caller, conversation_id: &str, message_id: &str) -> Result<bool> {
        ids::check_id("/conversationId", conversation_id)?;
        let owner = &caller.user_id;
        let _turn = self.conversation_locks.lock(&self.store, conversation_id).await?;
        let conversation = self.store.conversation(owner, conversation_id).await?.ok_or_else(UserError::not_found)?;
        if conversation.active_run.is_some() {
            return Err(errors::busy().into());
        }
        let branch = self.store.branch(owner, conversation_id).await?;
        let Some(last) = branch.last().filter(|last| last.id == message_id) else { return Ok(false) };
        let Some(closed) = plan::left_behind(last) else { return Ok(false) };
        let subject = RunContext {
            user_id: owner.clone(),
            agent_id: conversation.summary.agent_id,
            conversation_id: conversation_id.to_owned(),
            message_id: message_id.to_owned(),
            run_id: self.store.last_run(owner, conversation_id).await?.unwrap_or_default(),
        };
        let rows = audit::passed_over(&subject, &last.message, WITHDRAWN);
        let reason = EndReason::StoppedByUser;
        self.store.end_waiting_message(owner, conversation_id, stopped(closed), rows, reason).await?;
        self.events.tell(&LifecycleEvent::RunEnded {
            run_id: subject.run_id,
            conversation_id: subject.conversation_id,
            user_id: subject.user_id,
            agent_id: subject.agent_id,
            outcome: reason.outcome(),
            reason,
        });
        Ok(true)
    }
}

/// Returns an answer as one that the user has stopped.
fn stopped(message: UiMessage) -> UiMessage {
    let (outcome, reason) = (Some(Outcome::Stopped), Some(EndReason::StoppedByUser));
    let metadata = MessageMetadata { outcome, reason, ..MessageMetadata::from_message(&message) };
    UiMessage { metadata: serde_json::to_value(metadata).ok(), ..message }
}
