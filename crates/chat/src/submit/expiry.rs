//! Expiry of approval requests. An expired request is closed when the conversation is next
//! accessed: by a late answer, a new message, or opening the conversation. No background task is
//! involved, so a restart changes nothing.

use crate::events::LifecycleEvent;
use crate::record::audit::{self, RunContext};
use crate::{Caller, Inner};
use store::{StoreError, StoredMessage};
use wire::api::{MessageMetadata, Outcome};
use wire::{Approval, EndReason, ToolPart, ToolState, UiMessage, UiPart};

/// The reason in the audit log.
pub(crate) const NOT_IN_TIME: &str = "The user did not decide in time, so it was not done.";

/// The text that the model reads as the result.
const EXPIRED: &str = "The question to the user expired before there was a decision, so this was not done. Say so. Do it only if the user \
    asks for it again: a new call asks anew.";

/// Returns whether the call's approval request has expired.
pub(crate) fn is_due(tool: &ToolPart, now: i64) -> bool {
    let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
    tool.state == ToolState::ApprovalRequested
        && terms.and_then(|terms| terms.expires_at).is_some_and(|until| until <= now)
}

/// Closes all expired approval requests. If no call is left open, the answer is marked as
/// interrupted and can be continued. Returns whether that is so.
pub(crate) fn expire(message: &mut UiMessage, now: i64) -> bool {
    for part in &mut message.parts {
        let UiPart::Tool(tool) = part else { continue };
        if let (true, Some(approval)) = (is_due(tool, now), tool.approval.clone()) {
            tool.state = ToolState::OutputDenied;
            let reason = Some(EXPIRED.to_owned());
            tool.approval = Some(Approval { approved: Some(false), reason, expired: Some(true), ..approval });
        }
    }
    let is_over = message.tools().all(ToolPart::is_final);
    if is_over {
        let known = message.metadata.take().and_then(|known| serde_json::from_value::<MessageMetadata>(known).ok());
        let (outcome, reason) = (Some(Outcome::Interrupted), Some(EndReason::Expired));
        let metadata = MessageMetadata { outcome, reason, ..known.unwrap_or_default() };
        message.metadata = serde_json::to_value(metadata).ok();
    }
    is_over
}

impl Inner {
    /// Closes the expired requests of the newest message, with their audit entries. The caller must
    /// hold the conversation's lock.
    pub(crate) async fn expire(
        &self,
        caller: &Caller,
        agent_id: &str,
        conversation_id: &str,
        last: &mut StoredMessage,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        if !last.message.tools().any(|tool| is_due(tool, now)) {
            return Ok(());
        }
        let run_id = self.store.last_run(&caller.user_id, conversation_id).await?.unwrap_or_default();
        let subject = RunContext {
            user_id: caller.user_id.clone(),
            agent_id: agent_id.to_owned(),
            conversation_id: conversation_id.to_owned(),
            message_id: last.id.clone(),
            run_id,
        };
        let rows = audit::expired(&subject, &last.message, now);
        let is_over = expire(&mut last.message, now);
        let (owner, message, reason) = (&caller.user_id, last.message.clone(), EndReason::Expired);
        let stored = if is_over {
            self.store.end_waiting_message(owner, conversation_id, message, rows, reason).await
        } else {
            self.store.update_message(owner, conversation_id, message, rows).await
        };
        match stored {
            // A run has continued in between, so nothing waits any more.
            Err(StoreError::Busy) => return Ok(()),
            stored => stored?,
        }
        if is_over {
            self.events.tell(&LifecycleEvent::RunEnded {
                run_id: subject.run_id,
                conversation_id: subject.conversation_id,
                user_id: subject.user_id,
                agent_id: subject.agent_id,
                outcome: reason.outcome(),
                reason,
            });
        }
        Ok(())
    }

    /// Closes expired requests when a conversation is opened.
    pub(crate) async fn expire_when_opened(
        &self,
        caller: &Caller,
        agent_id: &str,
        conversation_id: &str,
        branch: &mut [StoredMessage],
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let is_due = |last: &StoredMessage| last.message.tools().any(|tool| is_due(tool, now));
        if !branch.last().is_some_and(is_due) {
            return Ok(());
        }
        let _turn = self.conversation_locks.lock(&self.store, conversation_id).await?;
        // The user may have answered while this waited for the lock.
        let mut stored = self.store.branch(&caller.user_id, conversation_id).await?;
        if let (Some(fresh), Some(last)) = (stored.last_mut(), branch.last_mut())
            && fresh.id == last.id
        {
            self.expire(caller, agent_id, conversation_id, fresh).await?;
            *last = fresh.clone();
        }
        Ok(())
    }
}
