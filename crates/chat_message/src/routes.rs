//! The routes.

use crate::events::{Event, MessageResponse, Translator};
use crate::request::MessageRequest;
use crate::section::ChatMessage;
use auth::password::KeyScope;
use axum::extract::State;
use axum::{Extension, Json};
use capability::Context;
use chat::{Caller, Frames, TextOrigin};
use futures::StreamExt;
use serde_json::json;
use std::time::Duration;
use web::openapi::{Access, ApiRouter, Tag};
use web::{EventStream, HttpError, RequestContext, SentJson, valid_json};
use wire::UserError;

/// The group in the OpenAPI document.
const CHAT_MESSAGE: Tag = Tag {
    name: "chat message",
    description: "Messages of clients that were written for the Busibox agent service, to the agent that the config names in `chatMessage`. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&CHAT_MESSAGE)
        .post("/chat/message", message, "Send a message and wait for the answer")
        .post("/chat/message/stream", stream, "Send a message and stream the answer as server-sent events")
        .map(|router| router.with_state(context))
}

/// A message that was accepted.
struct Accepted {
    translator: Translator,
    frames: Frames,
    /// The events before those of the run.
    first: Vec<Event>,
    heartbeat: Duration,
}

/// Returns who has written the message of a request.
fn origin(sent_with: Option<Extension<RequestContext>>) -> TextOrigin {
    sent_with.map_or(TextOrigin::User, |Extension(context)| context.text_origin())
}

/// Sends a message.
async fn send(
    context: &Context,
    (caller, origin): (&Caller, TextOrigin),
    body: SentJson<MessageRequest>,
) -> Result<Accepted, HttpError> {
    let config = context.current.config();
    let section = config.section::<ChatMessage>().ok_or_else(UserError::not_found)?;
    let request = valid_json(body)?;
    let agent = config.agents.get(request.agent(section)).ok_or_else(UserError::not_found)?;
    let page_id = section.page(&config).ok_or_else(UserError::not_found)?;
    // As the metadata of answers names it.
    let model = format!("{}/{}", agent.connection_id, agent.model);
    request.check(section, &model)?;
    let mut first = Vec::new();
    let conversation_id = match &request.conversation_id {
        // Only a conversation that exists is continued.
        Some(id) => {
            context.chat.conversation(caller, id).await?;
            id.clone()
        }
        None => {
            let id = uuid::Uuid::now_v7().to_string();
            let data = json!({ "conversation_id": id, "title": request.title() });
            first.push(Event::new("conversation_created", data));
            id
        }
    };
    let decision = request.decision(section);
    first.push(Event::new("model_selected", json!({ "model_id": model })));
    // An agent that decides itself does so at the beginning of its run.
    if agent.routes.is_empty() {
        first.push(Event::routing(&decision));
    }
    let mut submitted = request.submission(section, agent, page_id, &conversation_id)?;
    submitted.submission = origin.mark_submission(submitted.submission);
    let sent = context.chat.send(caller, submitted).await?;
    let translator = Translator::new(conversation_id, decision, sent.run_id, sent.message_id);
    Ok(Accepted { translator, frames: sent.frames, first, heartbeat: config.limits.heartbeat })
}

/// `POST /chat/message`
async fn message(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent_with: Option<Extension<RequestContext>>,
    body: SentJson<MessageRequest>,
) -> Result<Json<MessageResponse>, HttpError> {
    let Accepted { mut translator, mut frames, .. } = send(&context, (&caller, origin(sent_with)), body).await?;
    while let Some(frame) = frames.next().await {
        translator.push(&frame);
    }
    Ok(Json(translator.response()?))
}

/// `POST /chat/message/stream`
async fn stream(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent_with: Option<Extension<RequestContext>>,
    body: SentJson<MessageRequest>,
) -> Result<EventStream, HttpError> {
    let Accepted { mut translator, mut frames, first, heartbeat } =
        send(&context, (&caller, origin(sent_with)), body).await?;
    let events = async_stream::stream! {
        for event in first {
            yield event.frame();
        }
        while let Some(frame) = frames.next().await {
            for event in translator.push(&frame) {
                yield event.frame();
            }
        }
        if let Some(event) = translator.last_event() {
            yield event.frame();
        }
    };
    Ok(EventStream::new(events.boxed(), heartbeat))
}
