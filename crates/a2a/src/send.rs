//! Sends messages: a new one begins a task, which is a run of the agent; one that names a task answers what it waits for.

use crate::content;
use crate::error::RpcError;
use crate::push;
use crate::questions;
use crate::request::CallContext;
use crate::store::{self, KnownMessage, NewTask};
use crate::task::{self, Snapshot};
use a2a_types::{Message, SendMessageRequest, Task, TaskPushNotificationConfig, TaskState};
use chat::{Frames, Frontend, SendResponse, TextOrigin};
use futures::StreamExt;
use serde_json::Map;
use sha2::{Digest, Sha256};
use web::times::now_millis;
use wire::api::{Answer, RunOptions, SendRequest, Submission};
use wire::{ErrorCode, Role, UiMessage, UserError};

/// The result of sending a message.
pub(crate) struct Sent {
    pub(crate) task_id: String,
    /// The events of the answer, if the agent writes one.
    pub(crate) frames: Option<Frames>,
    /// Where the frames begin.
    pub(crate) from: StreamStart,
}

/// Where the frames of an answer begin.
#[derive(Clone, Debug)]
pub(crate) enum StreamStart {
    /// With the answer, which has nothing yet.
    New,
    /// With the answer, of which a part may be written already.
    Start,
    /// After what the task was before.
    After(Box<Snapshot>),
}

/// Sends a message, whose client may want to be told what becomes of the task. The same message sent again has no further
/// effect.
///
/// # Errors
/// The message cannot be used, its task is unknown or does not wait for it, or the agent cannot begin.
pub(crate) async fn send(
    asked: &CallContext,
    message: Message,
    told: Option<TaskPushNotificationConfig>,
) -> Result<Sent, RpcError> {
    let Some(told) = told else { return submit_message(asked, message).await };
    push::check(asked, &told, "configuration.taskPushNotificationConfig")?;
    // The same one if the message is sent again.
    let id = message.message_id.clone();
    let sent = submit_message(asked, message).await?;
    push::keep(asked, &sent.task_id, told, id).await?;
    Ok(sent)
}

async fn submit_message(asked: &CallContext, message: Message) -> Result<Sent, RpcError> {
    let CallContext { context, caller, agent_id, .. } = asked;
    let known = store::message(&context.store, &caller.user_id, agent_id, &message.message_id).await?;
    match (known, message.task_id.clone()) {
        (Some(KnownMessage { task_id, answers: None }), _) => follow(asked, task_id).await,
        (Some(KnownMessage { task_id, answers: Some(ids) }), _) => answer_again(asked, task_id, &ids, message).await,
        (None, Some(task_id)) => answer(asked, task_id, message).await,
        (None, None) => begin(asked, message).await,
    }
}

/// Waits for the end of the answer, or until it waits for the user. Returns the task.
///
/// # Errors
/// Those of [`send`].
pub(crate) async fn send_and_wait(asked: &CallContext, request: SendMessageRequest) -> Result<Task, RpcError> {
    let SendMessageRequest { message, configuration, .. } = request;
    let returns_immediately =
        configuration.as_ref().is_some_and(|configuration| configuration.return_immediately == Some(true));
    let (history_length, told) = configuration.map_or((None, None), |configuration| {
        (configuration.history_length, configuration.task_push_notification_config)
    });
    let sent = send(asked, message, told).await?;
    if let Some(mut frames) = sent.frames.filter(|_| !returns_immediately) {
        while frames.next().await.is_some() {}
    }
    Ok(task::load(asked, &sent.task_id).await?.task(asked, history_length, true))
}

/// Follows a task, if the agent works on it.
///
/// # Errors
/// There is no such task.
pub(crate) async fn follow(asked: &CallContext, task_id: String) -> Result<Sent, RpcError> {
    let row = task::row(asked, &task_id).await?;
    let frames = match row.state {
        TaskState::Working => {
            let frames = asked.context.chat.watch_message(&asked.caller, &row.conversation_id, &task_id).await;
            frames.map_err(task::gone)?
        }
        _ => None,
    };
    Ok(Sent { task_id, frames, from: StreamStart::Start })
}

/// Begins a task.
async fn begin(asked: &CallContext, message: Message) -> Result<Sent, RpcError> {
    let CallContext { context, caller, agent_id, origin, .. } = asked;
    let Message { message_id, context_id, parts, .. } = message;
    let conversation_id = context_id.unwrap_or_else(|| derived_context(&caller.user_id, agent_id, &message_id));
    let parts = content::read(context, caller, origin, parts).await?;
    let message = TextOrigin::Program.mark(UiMessage { parts, ..UiMessage::new(&message_id, Role::User) });
    let submission = Submission::Message { message, replaces: None, history: Vec::new() };
    let sent = submit(asked, &conversation_id, submission).await.map_err(begin_error)?;
    let task_id = sent.message_id.clone();
    // If the server dies before it is stored, the client sends the message again, which finds the same answer.
    let task = NewTask { id: task_id.clone(), conversation_id, message_id };
    store::begin(&context.store, &caller.user_id, agent_id, task, now_millis()).await?;
    Ok(Sent { task_id, frames: Some(sent.frames), from: StreamStart::New })
}

/// Returns the context of a message that names none: the same one for the same message, so that a repeated message finds
/// its answer.
fn derived_context(owner: &str, agent_id: &str, message_id: &str) -> String {
    let mut hash = Sha256::new();
    for text in [owner, agent_id, message_id] {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hex::encode(&hash.finalize()[..16])
}

/// Answers what a task waits for.
async fn answer(asked: &CallContext, task_id: String, message: Message) -> Result<Sent, RpcError> {
    let snapshot = task::load(asked, &task_id).await?;
    if message.context_id.as_ref().is_some_and(|id| *id != snapshot.row.conversation_id) {
        return Err(RpcError::invalid("message.contextId", "The task belongs to another context."));
    }
    match snapshot.row.state {
        TaskState::InputRequired => {}
        TaskState::Working => {
            let message = "The agent is working on the task. Wait until it asks something or ends, or cancel it.";
            return Err(RpcError::unsupported(message));
        }
        _ => {
            let message = "The task has ended. Send the message without `taskId`, with the `contextId` of the task, to \
                           begin another one in its context.";
            return Err(RpcError::unsupported(message));
        }
    }
    let answers = questions::answers(&message.parts, &snapshot.open())?;
    let ids = answers.iter().map(|(id, _)| id.clone()).collect();
    // Stored before the answers are, so that the same message never answers what the agent asks later.
    let known = KnownMessage { task_id: task_id.clone(), answers: Some(ids) };
    let CallContext { context, caller, agent_id, .. } = asked;
    let (store, owner) = (&context.store, &caller.user_id);
    if !store::answer(store, owner, agent_id, &message.message_id, known).await? {
        // Another copy of the message was first.
        let known = store::message(store, owner, agent_id, &message.message_id).await?;
        let ids = known.and_then(|known| known.answers).unwrap_or_default();
        return answer_again(asked, task_id, &ids, message).await;
    }
    submit_answers(asked, snapshot, answers).await
}

/// Answers what of these requests is still open: the server may have died before it stored the answers.
async fn answer_again(
    asked: &CallContext,
    task_id: String,
    ids: &[String],
    message: Message,
) -> Result<Sent, RpcError> {
    let snapshot = task::load(asked, &task_id).await?;
    let mut open = snapshot.open();
    open.retain(|request| ids.contains(&request.id));
    if open.is_empty() {
        return follow(asked, task_id).await;
    }
    let answers = questions::answers(&message.parts, &open)?;
    submit_answers(asked, snapshot, answers).await
}

async fn submit_answers(
    asked: &CallContext,
    snapshot: Snapshot,
    answers: Vec<(String, Answer)>,
) -> Result<Sent, RpcError> {
    let answers = answers.into_iter().map(|(_, answer)| answer).collect();
    let sent = submit(asked, &snapshot.row.conversation_id, Submission::Answers { answers }).await?;
    // Without a run, others are missing.
    let frames = (!sent.run_id.is_empty()).then_some(sent.frames);
    Ok(Sent { task_id: snapshot.row.id.clone(), frames, from: StreamStart::After(Box::new(snapshot)) })
}

async fn submit(asked: &CallContext, conversation_id: &str, submission: Submission) -> Result<SendResponse, UserError> {
    let request = SendRequest {
        page_id: asked.page_id.clone(),
        block_id: None,
        agent_id: asked.agent_id.clone(),
        conversation_id: conversation_id.to_owned(),
        submission,
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: RunOptions::default(),
    };
    // Nobody would run the tools of a page.
    asked.context.chat.send_from(&asked.caller, request, Frontend::default()).await
}

/// Converts the error of a task that could not begin: the places in the request have other names.
fn begin_error(error: UserError) -> RpcError {
    // The agent was found before.
    if matches!(error.code, ErrorCode::NotFound | ErrorCode::OtherAgent) {
        let message = "This context cannot be used. Leave `contextId` out to begin a new one.";
        return RpcError::invalid("message.contextId", message);
    }
    let field = match error.path.as_deref() {
        Some("/message/id") => "message.messageId",
        Some(path) if path.starts_with("/message") => "message.parts",
        Some("/conversationId") => "message.contextId",
        _ => return error.into(),
    };
    RpcError::from(error).at(field)
}
