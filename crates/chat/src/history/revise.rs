//! Changes that a user makes to a conversation without a run; see [`wire::change`].

use crate::errors::Result;
use crate::history::tree::MessageTree;
use crate::ids;
use crate::record::audit::{self, RunContext};
use crate::{Caller, Chat, Inner, errors};
use std::collections::HashMap;
use store::{AuditEntry, Conversation, CopyBranch, Deletion, SetBranch, StoredMessage};
use transcript::pending_calls;
use wire::change::{ChangeResult, Feedback, MessageChange};
use wire::organize::MAX_TITLE;
use wire::{ToolPart, UiMessage, UiPart, UserError};

/// The reason why an open call has no result.
const DELETED: &str = "The user deleted the message.";
/// The maximum length of a feedback comment in characters.
const MAX_COMMENT: usize = 2_000;
/// The prefix of a copy's title; not repeated for a copy of a copy.
const COPY: &str = "Copy of ";

impl Chat {
    /// Changes a conversation without a run: switches branches, deletes, rates or copies.
    ///
    /// # Errors
    /// 404 for a conversation or a message that the caller does not own, 409 while a run is active
    /// that the change affects (for copies this is checked here, otherwise by the store), 422 for
    /// feedback that is too long.
    pub async fn revise(&self, caller: &Caller, id: &str, change: MessageChange) -> Result<ChangeResult, UserError> {
        Ok(self.inner.revise(caller, id, change).await?)
    }
}

impl Inner {
    /// See [`Chat::revise`].
    pub(crate) async fn revise(&self, caller: &Caller, id: &str, change: MessageChange) -> Result<ChangeResult> {
        ids::check_id("/id", id).map_err(|_| UserError::not_found())?;
        // Holds the lock, so that what is read below does not change before it is written.
        let _turn = self.conversation_locks.lock(&self.store, id).await?;
        let conversation = self.store.conversation(&caller.user_id, id).await?;
        let conversation = conversation.ok_or_else(UserError::not_found)?;
        match change {
            MessageChange::Switch { message_id } => self.switch(caller, id, &message_id).await?,
            MessageChange::Delete { message_id } => self.delete_message(caller, &conversation, message_id).await?,
            MessageChange::Restore { message_id } => self.restore(caller, id, message_id).await?,
            MessageChange::Rate { message_id, feedback } => self.rate(caller, id, &message_id, feedback).await?,
            MessageChange::Copy { message_id } => return self.copy(caller, &conversation, &message_id).await,
        }
        Ok(ChangeResult { conversation_id: id.to_owned() })
    }

    /// Returns the message tree of a conversation.
    pub(crate) async fn tree(&self, caller: &Caller, id: &str) -> Result<MessageTree> {
        Ok(MessageTree::new(self.store.outline(&caller.user_id, id).await?))
    }

    async fn switch(&self, caller: &Caller, id: &str, message_id: &str) -> Result<()> {
        let tree = self.tree(caller, id).await?;
        let head = tree.newest_leaf(message_id).ok_or_else(UserError::not_found)?.to_owned();
        self.set_branch(caller, id, SetBranch { head, ..SetBranch::default() }).await
    }

    async fn delete_message(&self, caller: &Caller, conversation: &Conversation, message_id: String) -> Result<()> {
        let id = &conversation.summary.id;
        let tree = self.tree(caller, id).await?;
        if !tree.has(&message_id) {
            return Err(UserError::not_found().into());
        }
        let head = conversation.head.clone().unwrap_or_default();
        let head = tree.head_without(&message_id, &head).map(str::to_owned).unwrap_or(head);
        // Closes what waits for the user in the deleted messages, since it must not wait again
        // after a restore.
        let messages = self.store.messages(&caller.user_id, id).await?;
        let gone = tree.subtree(&message_id);
        let gone = messages.into_iter().filter(|stored| gone.contains(stored.id.as_str()));
        let (update, audit) = self.close(caller, conversation, gone, DELETED).await?;
        let deletion = Some(Deletion::Delete { message_id, now: crate::now() });
        self.set_branch(caller, id, SetBranch { head, deletion, update, audit }).await
    }

    async fn restore(&self, caller: &Caller, id: &str, message_id: String) -> Result<()> {
        let deletion = Some(Deletion::Restore { message_id });
        self.set_branch(caller, id, SetBranch { deletion, ..SetBranch::default() }).await
    }

    async fn rate(&self, caller: &Caller, id: &str, message_id: &str, feedback: Option<Feedback>) -> Result<()> {
        let feedback = feedback.map(validated_feedback).transpose()?;
        let kept = self.store.set_feedback(&caller.user_id, id, message_id, feedback, crate::now());
        Ok(kept.await?)
    }

    /// Copies the messages. Calls that wait for the user keep waiting only in the original
    /// conversation.
    async fn copy(&self, caller: &Caller, conversation: &Conversation, message_id: &str) -> Result<ChangeResult> {
        let from = &conversation.summary.id;
        let tree = self.tree(caller, from).await?;
        let path = tree.path(message_id);
        if path.is_empty() {
            return Err(UserError::not_found().into());
        }
        if conversation.active_run.as_ref().is_some_and(|run| path.contains(&run.message_id.as_str())) {
            return Err(errors::busy().into());
        }
        let messages = self.store.messages(&caller.user_id, from).await?;
        let mut messages: HashMap<_, _> =
            messages.into_iter().map(|stored| (stored.id.clone(), stored.message)).collect();
        let settled = |mut message: UiMessage| {
            pending_calls::supersede(&mut message);
            // Interrupted calls are repeated only in the original conversation.
            message.parts.iter_mut().filter_map(UiPart::as_tool_mut).for_each(ToolPart::prevent_repeat);
            message
        };
        let messages = path.iter().filter_map(|id| messages.remove(*id)).map(settled).collect();
        let to = ids::new_id();
        let title = copied_title(&conversation.summary.title);
        let copy = CopyBranch { from: from.clone(), to: to.clone(), title, messages, now: crate::now() };
        self.store.copy_branch(&caller.user_id, copy).await?;
        Ok(ChangeResult { conversation_id: to })
    }

    /// Closes what waits for the user in these messages. Returns the changed messages and the audit
    /// entries of the calls that end, for which `why` is the reason.
    pub(crate) async fn close(
        &self,
        caller: &Caller,
        conversation: &Conversation,
        messages: impl Iterator<Item = StoredMessage>,
        why: &str,
    ) -> Result<(Vec<UiMessage>, Vec<AuditEntry>)> {
        let id = &conversation.summary.id;
        let (mut update, mut audit) = (Vec::new(), Vec::new());
        for StoredMessage { mut message, .. } in messages.filter(|stored| stored.message.tools().any(audit::is_open)) {
            let run_id = self.store.run_of_message(&caller.user_id, id, &message.id).await?;
            let subject = RunContext {
                user_id: caller.user_id.clone(),
                agent_id: conversation.summary.agent_id.clone(),
                conversation_id: id.clone(),
                message_id: message.id.clone(),
                run_id: run_id.unwrap_or_default(),
            };
            audit.extend(audit::passed_over(&subject, &message, why));
            pending_calls::supersede(&mut message);
            update.push(message);
        }
        Ok((update, audit))
    }

    async fn set_branch(&self, caller: &Caller, id: &str, set: SetBranch) -> Result<()> {
        Ok(self.store.set_branch(&caller.user_id, id, set).await?)
    }
}

/// Checks feedback, and drops an empty comment.
fn validated_feedback(feedback: Feedback) -> Result<Feedback, UserError> {
    let reason = feedback.reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_COMMENT) {
        let message = format!("The comment has more than {MAX_COMMENT} characters.");
        return Err(UserError::invalid("/feedback/reason", message));
    }
    Ok(Feedback { reason, ..feedback })
}

fn copied_title(title: &str) -> String {
    let title = title.strip_prefix(COPY).unwrap_or(title);
    format!("{COPY}{title}").chars().take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_titles_are_prefixed_once() {
        let check = |title: &str, expected: &str| assert_eq!(copied_title(title), expected);
        check("Refunds", "Copy of Refunds");
        check("Copy of Refunds", "Copy of Refunds");
        check(&"x".repeat(200), &format!("Copy of {}", "x".repeat(192)));
    }
}
