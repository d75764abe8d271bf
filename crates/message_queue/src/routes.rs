//! The routes for pages and programs.

use crate::message::{Choices, bounded_json, checked};
use crate::sender::can_send_for;
use crate::store::{self, MAX_QUEUED, NewQueued, PutOutcome, QueuedMessage, RemoveOutcome};
use ::store::StoreError;
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use capability::{Caller, Context};
use chat::TextOrigin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;
use web::openapi::{Access, ApiRouter, Tag};
use web::times::now_millis;
use web::{HttpError, RequestContext, SentJson, valid_json};
use wire::api::RunOptions;
use wire::{ErrorCode, UiMessage, UserError};

/// The time for which a message that is being edited is not sent, in milliseconds: ten minutes.
const EDIT_MS: i64 = 10 * 60 * 1_000;

/// How often a request tries to change a message that a server is sending, and the pause in between: about ten seconds in all.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(200);

/// The group in the OpenAPI document.
const QUEUES: Tag = Tag {
    name: "message queues",
    description: "Messages of the caller that wait for the end of an answer. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&QUEUES)
        .get("/api/message-queues/{id}", show, "List the messages that wait in a conversation")
        .put(
            "/api/message-queues/{id}/{message}",
            put,
            "Add a message to the queue of a conversation, or change one that waits; 429 if the queue is full, 503 if it is \
             being sent for too long",
        )
        .delete("/api/message-queues/{id}/{message}", remove, "Remove a message from the queue of a conversation")
        .map(|router| router.with_state(context))
}

/// The messages that wait in a conversation, in the order in which they are sent.
#[derive(Serialize, JsonSchema)]
struct MessageQueue {
    /// At most 20; none in a conversation that the caller does not have.
    items: Vec<WaitingMessage>,
}

/// A message that waits.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WaitingMessage {
    /// The message.
    message: UiMessage,
    /// Whether only an open page sends it, and not the server.
    needs_page: bool,
    /// Whether it is not sent for the moment, for example because it is being edited.
    is_held: bool,
    /// Why the server could not send it. It waits until it is changed, sent or removed.
    refusal: Option<String>,
}

/// A message to add or to change.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QueueBody {
    /// The message of the user, with the id of the address. A conversation gets a message with this id once.
    #[schemars(with = "UiMessage")]
    message: Value,
    /// The page that shows the chat.
    page_id: String,
    /// The id of the chat's block on the page, if it has several with this agent.
    block_id: Option<String>,
    /// The query string of the page.
    #[serde(default)]
    url_query: Map<String, Value>,
    /// The states of the composer's switches (`true` or `false`).
    #[serde(default)]
    switches: Map<String, Value>,
    /// The choices for the answer, with the names that they have when a message is sent: `planMode`, `documents`,
    /// `libraries`, `web`, `model`, `thinking`, `delegate`.
    #[serde(default)]
    options: Map<String, Value>,
    /// Whether only an open page may send it.
    #[serde(default)]
    needs_page: bool,
    /// Whether the user is editing it, so that it is not sent for ten minutes.
    #[serde(default)]
    is_edited: bool,
}

async fn queue(context: &Context, caller: &Caller, id: &str) -> Result<Json<MessageQueue>, StoreError> {
    let now = now_millis();
    let view = |queued: QueuedMessage| {
        let message = serde_json::from_str(&queued.content).ok()?;
        let (needs_page, is_held) = (queued.needs_page, queued.held_until > now);
        Some(WaitingMessage { message, needs_page, is_held, refusal: queued.refusal })
    };
    let rows = store::list(&context.store, &caller.user_id, id).await?;
    Ok(Json(MessageQueue { items: rows.into_iter().filter_map(view).collect() }))
}

/// `GET /api/message-queues/{id}`
async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<MessageQueue>, HttpError> {
    Ok(queue(&context, &caller, &id).await?)
}

/// `PUT /api/message-queues/{id}/{message}`
async fn put(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent_with: Option<Extension<RequestContext>>,
    Path((id, message_id)): Path<(String, String)>,
    body: SentJson<QueueBody>,
) -> Result<Json<MessageQueue>, HttpError> {
    if !store::is_own(&context.store, &caller.user_id, &id).await? {
        return Err(UserError::not_found().into());
    }
    let body = valid_json(body)?;
    let origin = sent_with.map_or(TextOrigin::User, |Extension(sent)| sent.text_origin());
    let new = new_message(body, &message_id, origin, can_send_for(&context, &caller))?;
    match put_when_settled(&context, &caller, &id, new).await? {
        PutOutcome::Queued | PutOutcome::Sent => Ok(queue(&context, &caller, &id).await?),
        PutOutcome::Sending => Err(being_sent().into()),
        PutOutcome::Gone => Err(UserError::not_found().into()),
        PutOutcome::Full => {
            let message = format!("{MAX_QUEUED} messages are already waiting, or too many in other conversations.");
            Err(UserError::new(ErrorCode::RateLimited, message).into())
        }
    }
}

/// Stores a message. If a server is sending it, this waits for the end, to find out whether the change comes too late.
async fn put_when_settled(
    context: &Context,
    caller: &Caller,
    id: &str,
    new: NewQueued,
) -> Result<PutOutcome, StoreError> {
    for _ in 0..TRIES {
        let new = NewQueued { now: now_millis(), ..new.clone() };
        match store::put(&context.store, &caller.user_id, id, new).await? {
            PutOutcome::Sending => tokio::time::sleep(PAUSE).await,
            outcome => return Ok(outcome),
        }
    }
    Ok(PutOutcome::Sending)
}

/// Returns the error for a message that a server has been sending for longer than a request waits.
fn being_sent() -> UserError {
    let message = "This message is being sent at this moment. Look in the conversation, or try again.";
    UserError { retry_after: Some(2), ..UserError::new(ErrorCode::Unavailable, message) }
}

fn new_message(
    body: QueueBody,
    message_id: &str,
    origin: TextOrigin,
    can_be_sent: bool,
) -> Result<NewQueued, UserError> {
    let message = checked(body.message, message_id)?;
    let message = if origin == TextOrigin::User { message } else { origin.mark_unnamed(message) };
    let options: RunOptions = serde_json::from_value(Value::Object(body.options))
        .map_err(|_| UserError::invalid("/options", "A choice has a value of the wrong type."))?;
    let choices = Choices {
        page_id: body.page_id,
        block_id: body.block_id,
        url_query: body.url_query,
        switches: body.switches,
        options,
    };
    let now = now_millis();
    Ok(NewQueued {
        message_id: message_id.to_owned(),
        content: bounded_json(&message)?,
        choices: bounded_json(&choices)?,
        needs_page: body.needs_page || !can_be_sent,
        held_until: if body.is_edited { now + EDIT_MS } else { 0 },
        now,
    })
}

/// `DELETE /api/message-queues/{id}/{message}`
async fn remove(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path((id, message_id)): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    for _ in 0..TRIES {
        match store::remove(&context.store, &caller.user_id, &id, &message_id, now_millis()).await? {
            RemoveOutcome::Removed => return Ok(NoContent),
            RemoveOutcome::Gone => return Err(UserError::not_found().into()),
            RemoveOutcome::Sending => tokio::time::sleep(PAUSE).await,
        }
    }
    Err(being_sent().into())
}
