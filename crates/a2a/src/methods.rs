//! Runs the methods. Those about tasks that exist are here: reading, listing and canceling them.

use crate::error::RpcError;
use crate::request::CallContext;
use crate::response::Envelope;
use crate::rpc::{MAX_PAGE, Method};
use crate::store::{self, Cursor, Filter};
use crate::{push, send, stream, task};
use a2a_types::{CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, Task, TaskState};
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;

/// The size of a page if the client names none.
const PAGE: i32 = 50;
/// How long a canceled run may take to end before the task is returned as it is.
const STOP_TIME: Duration = Duration::from_secs(10);

/// The result of a method: an object, or a stream of events.
pub(crate) enum Answered {
    Object(Value),
    Stream(chat::Frames),
}

/// Runs a method.
///
/// # Errors
/// Those of the method.
pub(crate) async fn answer(asked: CallContext, envelope: Envelope, method: Method) -> Result<Answered, RpcError> {
    let result = match method {
        Method::Send(request) => json!({ "task": send::send_and_wait(&asked, *request).await? }),
        Method::SendStreaming(request) => return Ok(Answered::Stream(stream::send(asked, envelope, *request).await?)),
        Method::Get(request) => json!(get(&asked, request).await?),
        Method::List(request) => json!(list(&asked, request).await?),
        Method::Cancel(request) => json!(cancel(&asked, request).await?),
        Method::Subscribe(request) => {
            return Ok(Answered::Stream(stream::subscribe(asked, envelope, request.id).await?));
        }
        Method::ExtendedCard => {
            let message = "There is no extended card: the card of the agent is the same for everybody who may see it.";
            return Err(RpcError::unsupported(message));
        }
        Method::CreatePush(request) => push::create(&asked, request).await?,
        Method::GetPush(request) => push::get(&asked, request).await?,
        Method::ListPush(request) => push::list(&asked, request).await?,
        Method::DeletePush(request) => push::delete(&asked, request).await?,
    };
    Ok(Answered::Object(result))
}

/// `GetTask`
///
/// # Errors
/// There is no such task.
async fn get(asked: &CallContext, request: GetTaskRequest) -> Result<Task, RpcError> {
    Ok(task::load(asked, &request.id).await?.task(asked, request.history_length, true))
}

/// `ListTasks`
///
/// # Errors
/// The page token is not one of this server.
async fn list(asked: &CallContext, request: ListTasksRequest) -> Result<ListTasksResponse, RpcError> {
    let page_size = request.page_size.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let after = match request.page_token.as_deref().filter(|token| !token.is_empty()) {
        Some(token) => {
            let cursor = Cursor::parse(token);
            Some(
                cursor
                    .ok_or_else(|| RpcError::invalid("pageToken", "This is not a `nextPageToken` of this server."))?,
            )
        }
        None => None,
    };
    let filter = Filter {
        conversation_id: request.context_id.filter(|id| !id.is_empty()),
        state: request.status.filter(|state| *state != TaskState::Unspecified),
        updated_since: request.status_timestamp_after.map_or(i64::MIN, |after| after.timestamp_millis()),
    };
    let (store, owner) = (&asked.context.store, &asked.caller.user_id);
    // One more than requested shows whether there is a next page.
    let (mut rows, count) = store::page(store, owner, &asked.agent_id, filter, after, i64::from(page_size) + 1).await?;
    let has_more = rows.len() > page_size as usize;
    rows.truncate(page_size as usize);
    let next = rows.last().filter(|_| has_more).map(Cursor::after);
    let mut tasks = Vec::new();
    for row in rows {
        match task::complete(asked, row).await {
            Ok(snapshot) => {
                let with_artifacts = request.include_artifacts == Some(true);
                tasks.push(snapshot.task(asked, request.history_length, with_artifacts));
            }
            // Deleted since the list was read.
            Err(error) if error == RpcError::task_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ListTasksResponse {
        tasks,
        next_page_token: next.map(|next| next.to_string()).unwrap_or_default(),
        page_size,
        total_size: i32::try_from(count).unwrap_or(i32::MAX),
    })
}

/// `CancelTask`
///
/// # Errors
/// There is no such task, or it has ended.
async fn cancel(asked: &CallContext, request: CancelTaskRequest) -> Result<Task, RpcError> {
    let chat = &asked.context.chat;
    let snapshot = task::load(asked, &request.id).await?;
    let conversation_id = &snapshot.row.conversation_id;
    match snapshot.row.state {
        TaskState::InputRequired => {
            chat.withdraw(&asked.caller, conversation_id, &request.id).await.map_err(task::gone)?;
        }
        state if state.is_terminal() => return Err(RpcError::not_cancelable()),
        _ => {
            let frames = chat.watch_message(&asked.caller, conversation_id, &request.id).await.map_err(task::gone)?;
            // The run of another answer of the conversation is not stopped.
            let view = chat.conversation(&asked.caller, conversation_id).await.map_err(task::gone)?;
            if let Some(active) = view.active.filter(|active| active.message_id == request.id) {
                let stopping = chat.stop_if_active(&asked.caller, conversation_id, &active.run_id);
                stopping.await.map_err(task::gone)?;
                if let Some(mut frames) = frames {
                    let ended = async { while frames.next().await.is_some() {} };
                    // Otherwise it ends later.
                    let _ = tokio::time::timeout(STOP_TIME, ended).await;
                }
            }
        }
    }
    let snapshot = task::load(asked, &request.id).await?;
    match snapshot.row.state {
        // It has ended by itself before it could be stopped.
        TaskState::Completed | TaskState::Failed => Err(RpcError::not_cancelable()),
        _ => Ok(snapshot.task(asked, None, true)),
    }
}
