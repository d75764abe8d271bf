//! Tasks, derived from conversations: a task is an answer, with the message of the user before it.

use crate::error::RpcError;
use crate::request::CallContext;
use crate::store::{self, TaskRow};
use crate::{content, questions};
use a2a_types::{Artifact, Message, Part, Role, Task, TaskState, TaskStatus};
use chrono::DateTime;
use wire::api::{MessageMetadata, Outcome};
use wire::file::presented_files;
use wire::{EndReason, ErrorCode, UiMessage, UiPart, UserError};

/// The id of the artifact with the text of the answer.
const ANSWER: &str = "answer";
/// The separator of two texts of an answer.
pub(crate) const BETWEEN_TEXTS: &str = "\n\n";

/// A task with its messages.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) row: TaskRow,
    /// The answer, as far as it is written.
    answer: UiMessage,
    /// The message of the user that it answers.
    question: Option<UiMessage>,
}

/// Loads a task of the caller with the agent.
///
/// # Errors
/// [`RpcError::task_not_found`], also for the task of another user or agent.
pub(crate) async fn load(asked: &CallContext, task_id: &str) -> Result<Snapshot, RpcError> {
    let row = row(asked, task_id).await?;
    complete(asked, row).await
}

/// Returns what is known of a task without its messages.
///
/// # Errors
/// Those of [`load`].
pub(crate) async fn row(asked: &CallContext, task_id: &str) -> Result<TaskRow, RpcError> {
    let row = store::one(&asked.context.store, &asked.caller.user_id, &asked.agent_id, task_id).await?;
    row.ok_or_else(RpcError::task_not_found)
}

/// Loads the messages of a task.
///
/// # Errors
/// Those of [`load`].
pub(crate) async fn complete(asked: &CallContext, mut row: TaskRow) -> Result<Snapshot, RpcError> {
    let CallContext { context, caller, .. } = asked;
    let mut live = None;
    if !row.state.is_terminal() {
        // The view has what is being written, and closes requests that have expired.
        let view = context.chat.conversation(caller, &row.conversation_id).await.map_err(gone)?;
        let is_active = view.active.is_some_and(|active| active.message_id == row.id);
        row = self::row(asked, &row.id).await?;
        if is_active && row.state == TaskState::Working {
            live = view.messages.into_iter().find(|message| message.id == row.id);
        }
    }
    let stored = context.store.message(&caller.user_id, &row.conversation_id, &row.id).await?;
    let stored = stored.ok_or_else(RpcError::task_not_found)?;
    let question = match &stored.parent_id {
        Some(id) => context.store.message(&caller.user_id, &row.conversation_id, id).await?,
        None => None,
    };
    let question = question.map(|question| question.message).filter(|message| message.role == wire::Role::User);
    Ok(Snapshot { row, answer: live.unwrap_or(stored.message), question })
}

/// Converts an error about the conversation of a task, which may be deleted meanwhile.
pub(crate) fn gone(error: UserError) -> RpcError {
    if error.code == ErrorCode::NotFound { RpcError::task_not_found() } else { error.into() }
}

impl Snapshot {
    /// Returns what the answer waits for.
    pub(crate) fn open(&self) -> Vec<questions::Request> {
        if self.row.state == TaskState::InputRequired { questions::open(&self.answer) } else { Vec::new() }
    }

    /// Returns the task. `history_length` is the most messages of its history; `None` for all.
    pub(crate) fn task(&self, asked: &CallContext, history_length: Option<i32>, with_artifacts: bool) -> Task {
        let mut history = if history_length == Some(0) { Vec::new() } else { self.history(asked) };
        if let Some(most) = history_length.and_then(|most| usize::try_from(most).ok()) {
            history.drain(..history.len().saturating_sub(most));
        }
        Task {
            id: self.row.id.clone(),
            context_id: self.row.conversation_id.clone(),
            status: self.status(),
            artifacts: with_artifacts.then(|| self.artifacts(asked)),
            history: (!history.is_empty()).then_some(history),
            metadata: None,
        }
    }

    /// Returns the status, with what the agent asks or why the task failed.
    pub(crate) fn status(&self) -> TaskStatus {
        let parts = match self.row.state {
            TaskState::InputRequired => self.open().iter().flat_map(questions::Request::parts).collect(),
            TaskState::Failed => vec![Part::text(self.failure())],
            _ => Vec::new(),
        };
        let message = (!parts.is_empty()).then(|| self.message(format!("{}-status", self.row.id), Role::Agent, parts));
        let timestamp = DateTime::from_timestamp_millis(self.row.updated_at);
        TaskStatus { state: self.row.state.clone(), message, timestamp }
    }

    /// Returns why the task failed.
    fn failure(&self) -> String {
        let MessageMetadata { outcome, reason, error, .. } = MessageMetadata::from_message(&self.answer);
        let message = match (error, reason, outcome) {
            (Some(error), ..) => return error.message,
            (None, Some(EndReason::Expired), _) => "The agent was not answered in time.",
            (None, Some(reason), Some(Outcome::Limit)) => {
                return format!("The answer reached a limit (`{}`) and is not complete.", reason.name());
            }
            (None, _, Some(Outcome::Interrupted) | None) => "The answer was cut off.",
            (None, ..) => "The agent has no answer.",
        };
        message.to_owned()
    }

    /// Returns the messages: of the user, and what the agent has asked with the answers to that.
    fn history(&self, asked: &CallContext) -> Vec<Message> {
        let question = self.question.iter().map(|question| {
            let parts = content::user_parts(&question.parts, &asked.origin);
            self.message(question.id.clone(), Role::User, parts)
        });
        let exchanges = questions::answered(&self.answer).into_iter().flat_map(|exchange| {
            let id = &exchange.request.id;
            let request = self.message(id.clone(), Role::Agent, exchange.request.parts().into());
            let is_answered = !exchange.answer.is_empty();
            let answer = is_answered.then(|| self.message(format!("{id}-answer"), Role::User, exchange.answer));
            std::iter::once(request).chain(answer)
        });
        question.chain(exchanges).collect()
    }

    fn message(&self, message_id: String, role: Role, parts: Vec<Part>) -> Message {
        Message {
            message_id,
            context_id: Some(self.row.conversation_id.clone()),
            task_id: Some(self.row.id.clone()),
            ..Message::new(role, parts)
        }
    }

    /// Returns the text of the answer.
    pub(crate) fn text(&self) -> String {
        let texts = self.answer.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) if !text.text.is_empty() => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join(BETWEEN_TEXTS)
    }

    /// Returns the files that the agent has shown.
    pub(crate) fn files(&self, asked: &CallContext) -> Vec<Artifact> {
        let mut files = Vec::new();
        for part in &self.answer.parts {
            match part {
                UiPart::File(part) => {
                    files.push(content::file(&part.url, &part.media_type, part.filename.as_deref(), &asked.origin));
                }
                UiPart::Data(part) => files.extend(presented_files(part).iter().map(|shown| {
                    let name = shown.path.rsplit('/').next();
                    content::file(&shown.url, &shown.media_type, name, &asked.origin)
                })),
                _ => {}
            }
        }
        let artifact = |(at, part): (usize, Part)| {
            let name = part.filename.clone();
            Artifact { name, ..artifact(format!("file-{}", at + 1), part) }
        };
        files.into_iter().enumerate().map(artifact).collect()
    }

    fn artifacts(&self, asked: &CallContext) -> Vec<Artifact> {
        let text = self.text();
        let answer = (!text.is_empty()).then(|| answer(text));
        answer.into_iter().chain(self.files(asked)).collect()
    }
}

/// Returns the artifact with the text of an answer, or a piece of it.
pub(crate) fn answer(text: String) -> Artifact {
    Artifact { name: Some("Answer".to_owned()), ..artifact(ANSWER.to_owned(), Part::text(text)) }
}

fn artifact(artifact_id: String, part: Part) -> Artifact {
    Artifact { artifact_id, name: None, description: None, parts: vec![part], metadata: None, extensions: None }
}
