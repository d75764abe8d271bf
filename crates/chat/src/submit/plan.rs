//! The changes of a conversation by a submission: which messages are inserted and updated, which
//! calls were decided, and what the run that answers it reads and writes.

use crate::ids::new_id;
use crate::record::audit;
use crate::submit::branch::covered::Covered;
use crate::submit::content::{created_now, sanitized, title_from};
use crate::submit::{compaction, metadata, model_choice, standing_approvals};
use agent::{Compaction, ContextSettings, PendingCall, TurnUsage};
use std::sync::Arc;
use store::{AuditEntry, NewGrant, NewMessage, StoredMessage};
use transcript::{chunks, context, pending_calls};
use wire::api::{Answer, RunOptions};
use wire::chunk::DataChunk;
use wire::message::DataPart;
use wire::{Role, ToolPart, UiMessage, UiPart, UserError};

/// The prompt for continuing an interrupted answer.
const GO_ON: &str = "Your answer was cut off. Go on from where it stopped, without repeating anything.";

/// The effect of a submission on the conversation.
pub(crate) struct SubmissionPlan {
    /// The idempotency key.
    pub(crate) key: String,
    /// The new messages.
    pub(crate) insert: Vec<NewMessage>,
    /// The stored messages that change.
    pub(crate) update: Vec<UiMessage>,
    /// The assistant message that the run writes, in its initial state.
    pub(crate) message: UiMessage,
    /// Whether the message has content already.
    pub(crate) continues: bool,
    /// The messages before the history, which a summary covers, if they are not a part of it.
    pub(crate) covered: Option<Arc<Covered>>,
    /// The messages that the model reads before `message`.
    pub(crate) history: Vec<UiMessage>,
    /// Whether the conversation is new.
    pub(crate) is_new: bool,
    /// The title of a new conversation.
    pub(crate) title: String,
    /// The audit entries of calls that end with the submission.
    pub(crate) audit: Vec<AuditEntry>,
    /// The calls that the user decided on, and those to repeat, which the run handles first.
    pub(crate) pending: Vec<PendingCall>,
    /// The standing approvals that the submission creates.
    pub(crate) grants: Vec<NewGrant>,
    /// The usage of the turn before it waited for the user.
    pub(crate) earlier: TurnUsage,
    /// Set if the run summarises the history, because its newest message demands that.
    pub(crate) compaction: Option<Compaction>,
    /// The warning about the user's quotas that comes with the answer.
    pub(crate) quota_warning: Option<String>,
}

impl SubmissionPlan {
    /// Creates the plan of a run that writes `message` after `history`.
    fn new(key: String, message: UiMessage, history: Vec<UiMessage>) -> Self {
        Self {
            key,
            insert: Vec::new(),
            update: Vec::new(),
            message,
            continues: false,
            covered: None,
            history,
            is_new: false,
            title: String::new(),
            audit: Vec::new(),
            pending: Vec::new(),
            grants: Vec::new(),
            earlier: TurnUsage::default(),
            compaction: None,
            quota_warning: None,
        }
    }

    /// Creates the plan of a run that continues `message`, which is stored already.
    fn continuation(key: String, message: UiMessage, history: Vec<UiMessage>) -> Self {
        Self { continues: true, update: vec![message.clone()], ..Self::new(key, message, history) }
    }

    /// Adds the newest message with its open calls closed, for a submission that does not answer
    /// them, and the calls' audit entries. They are closed because the user may return to the
    /// message's branch.
    pub(crate) fn leaving(mut self, left: Option<UiMessage>, audit: Vec<AuditEntry>) -> Self {
        let is_new = |left: &UiMessage| self.update.iter().all(|message| message.id != left.id);
        let left = left.filter(is_new);
        self.update.extend(left);
        Self { audit, ..self }
    }

    /// Moves the decisions from the message to the pending calls of the new run, together with
    /// interrupted calls that need no decision.
    pub(crate) fn with_pending_calls(mut self) -> Self {
        self.pending = pending_calls::decided_calls(&self.message);
        self.pending.extend(pending_calls::reopen_interrupted(&mut self.message));
        pending_calls::forget_suspended(&mut self.message, &self.pending);
        self.earlier = pending_calls::stored_usage(&self.message);
        Self { update: vec![self.message.clone()], ..self }
    }

    /// Makes the run a summary of the history, if the user's newest message demands that.
    pub(crate) fn with_compaction(mut self, settings: &ContextSettings) -> Result<Self, UserError> {
        self.compaction = compaction::demanded(&self.history, settings)?;
        if self.compaction.is_some() {
            let mark = context::compaction();
            let new = self.insert.iter_mut().map(|new| &mut new.message).find(|new| new.id == self.message.id);
            new.into_iter().chain([&mut self.message]).for_each(|message| message.parts.push(mark.clone()));
        }
        Ok(self)
    }

    /// Records in the answer which model the user has chosen for it.
    pub(crate) fn with_choice(mut self, options: &RunOptions) -> Self {
        let id = self.message.id.clone();
        let stored = self.insert.iter_mut().map(|new| &mut new.message).chain(&mut self.update);
        for message in stored.filter(|message| message.id == id).chain([&mut self.message]) {
            model_choice::record(message, options);
        }
        self
    }

    /// Makes the messages that a summary covers a part of the history.
    pub(crate) fn with_whole_history(mut self) -> Self {
        if let Some(covered) = self.covered.take() {
            self.history = covered.decoded().chain(self.history).collect();
        }
        self
    }

    /// Returns whether other calls of the message still wait for answers, so that no run starts.
    pub(crate) fn is_waiting(&self) -> bool {
        self.message.tools().any(pending_calls::is_pending)
    }
}

/// Plans a new message of the user at the end of the branch. A new conversation starts with the
/// messages that the client brought.
pub(crate) fn plan_message(
    mut branch: Vec<StoredMessage>,
    message: &UiMessage,
    preset: Vec<UiMessage>,
) -> SubmissionPlan {
    let (mut insert, mut update) = (Vec::new(), Vec::new());
    for message in preset {
        let (id, parent_id) = (message.id.clone(), branch.last().map(|last| last.id.clone()));
        insert.push(NewMessage { parent_id: parent_id.clone(), message: message.clone() });
        branch.push(StoredMessage { id, parent_id, created_at: crate::now(), message });
    }
    if let Some(last) = branch.last_mut()
        && last.message.role == Role::Assistant
        && pending_calls::supersede(&mut last.message)
    {
        update.push(last.message.clone());
    }
    let user = UiMessage { metadata: metadata::stored(message), ..sanitized(message) };
    let parent_id = branch.last().map(|last| last.id.clone());
    let answer = empty_answer();
    insert.push(NewMessage { parent_id, message: user.clone() });
    insert.push(NewMessage { parent_id: Some(user.id.clone()), message: answer.clone() });
    let title = title_from(&user);
    let history = messages(branch).chain([user]).collect();
    SubmissionPlan { insert, update, title, ..SubmissionPlan::new(format!("message:{}", message.id), answer, history) }
}

/// Plans another answer to a message of the branch, by default to the newest one.
pub(crate) fn plan_regenerate(
    mut branch: Vec<StoredMessage>,
    message_id: Option<&str>,
) -> Result<SubmissionPlan, UserError> {
    let at = match message_id {
        Some(id) => branch.iter().position(|stored| stored.id == id),
        None => branch.len().checked_sub(1),
    };
    let at = at.ok_or_else(UserError::not_found)?;
    // Regenerating at a user message answers that message; at an answer, the message before it.
    let keep = if branch[at].message.role == Role::User { at + 1 } else { at };
    branch.truncate(keep);
    let parent =
        branch.last().ok_or_else(|| UserError::invalid("/messageId", "There is no message to answer again."))?;
    let answer = empty_answer();
    let insert = vec![NewMessage { parent_id: Some(parent.id.clone()), message: answer.clone() }];
    let key = format!("regenerate:{}", answer.id);
    Ok(SubmissionPlan { insert, ..SubmissionPlan::new(key, answer, messages(branch).collect()) })
}

/// Plans the continuation with the user's answers to pending calls.
pub(crate) fn plan_answers(
    branch: Vec<StoredMessage>,
    answers: &[Answer],
    agent_id: &str,
    conversation_id: &str,
) -> Result<SubmissionPlan, UserError> {
    if answers.is_empty() {
        return Err(UserError::invalid("/answers", "The list of answers is empty."));
    }
    let (mut message, history) = newest_answer(branch)?;
    let grants = standing_approvals::created_grants(&message, answers, agent_id, conversation_id);
    pending_calls::record_answers(&mut message, answers, crate::now())?;
    let grants = grants?;
    standing_approvals::approve_covered(&mut message, &grants, agent_id);
    let key = format!("answers:{}", new_id());
    Ok(SubmissionPlan { grants, ..SubmissionPlan::continuation(key, message, history) })
}

/// Plans the continuation of an answer that ended early.
pub(crate) fn plan_continue(
    branch: Vec<StoredMessage>,
    settings: &ContextSettings,
) -> Result<SubmissionPlan, UserError> {
    let (mut message, history) = newest_answer(branch)?;
    if context::is_compaction(&message) {
        let compaction = compaction::demanded(&history, settings)?;
        let compaction = Some(compaction.ok_or_else(compaction::switched_off)?);
        let plan = SubmissionPlan::continuation(format!("continue:{}", new_id()), message, history);
        return Ok(SubmissionPlan { compaction, ..plan });
    }
    if message.tools().any(pending_calls::is_pending) {
        return Err(UserError::invalid("/submission", "Answer the open question first."));
    }
    let key = format!("continue:{}", new_id());
    if message.tools().any(ToolPart::repeats_on_continue) {
        // The model continues from the results of the repeated calls.
        return Ok(SubmissionPlan::continuation(key, message, history).with_pending_calls());
    }
    // The user asks for more, so the earlier usage of the turn does not count.
    pending_calls::remove_usage(&mut message);
    let DataChunk { kind, id, data, .. } = chunks::prompt_note(GO_ON);
    message.parts.push(UiPart::Data(DataPart { kind, id, data }));
    Ok(SubmissionPlan::continuation(key, message, history))
}

/// Plans the run that goes on from a message that the server adds at the end of the branch.
pub(crate) fn plan_delivered(branch: Vec<StoredMessage>, message: UiMessage) -> SubmissionPlan {
    let parent_id = branch.last().map(|last| last.id.clone());
    let insert = vec![NewMessage { parent_id, message: message.clone() }];
    let key = format!("delivered:{}", message.id);
    SubmissionPlan { insert, continues: true, ..SubmissionPlan::new(key, message, messages(branch).collect()) }
}

fn empty_answer() -> UiMessage {
    UiMessage { metadata: created_now(), ..UiMessage::new(new_id(), Role::Assistant) }
}

/// Returns the newest assistant message and the messages before it.
fn newest_answer(mut branch: Vec<StoredMessage>) -> Result<(UiMessage, Vec<UiMessage>), UserError> {
    let last = branch.pop().filter(|last| last.message.role == Role::Assistant).ok_or_else(UserError::not_found)?;
    Ok((last.message, messages(branch).collect()))
}

fn messages(branch: Vec<StoredMessage>) -> impl Iterator<Item = UiMessage> {
    branch.into_iter().map(|stored| stored.message)
}

/// Returns the newest message of the branch with its pending calls closed, if it has any.
pub(crate) fn left_behind(last: &StoredMessage) -> Option<UiMessage> {
    let waits = last.message.role == Role::Assistant && last.message.tools().any(audit::is_open);
    let mut message = waits.then(|| last.message.clone())?;
    pending_calls::supersede(&mut message);
    Some(message)
}
