//! The AI SDK's endpoints for `chat.send`, `chat.watch` and `chat.stop`.
//!
//! The client sends its whole transcript. Only the newest user message counts, and decisions or
//! outputs for calls that are pending in the server's own record.

use super::stream::{self, EventStream, OptionalStream};
use super::tags::AGENTS;
use crate::state::AppState;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::NoContent;
use chat::{Caller, Chat, TextOrigin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;
use web::openapi::ApiRouter;
use web::{HttpError, RequestContext, SentJson, valid_json};
use wire::api::{Answer, RunOptions, SendRequest, Submission};
use wire::{ErrorCode, Role, ToolPart, ToolState, UiMessage, UserError};

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&AGENTS)
        .post(
            "/api/agent/{page}/{agent}",
            send,
            "Send a message, approval decisions or tool outputs; 409 `other_agent` in a conversation with another agent",
        )
        .get("/api/agent/{page}/{agent}/{conversation}/stream", stream, "Stream a running answer")
        .post(
            "/api/agent/{page}/{agent}/{conversation}/compact",
            compact,
            "Summarize the conversation so far for the model; streams the answer with the summary, as a message `/compact` does",
        )
        .post("/api/agent/{page}/{agent}/{conversation}/stop", stop, "Stop a running answer")
}

/// The body of the AI SDK's `DefaultChatTransport`; unknown keys belong to the application.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendBody {
    /// The client's id of the chat.
    id: Option<String>,
    /// The conversation, as in the query, which comes first.
    conversation_id: Option<String>,
    /// The client's transcript. Only the newest message counts. A new conversation begins with the
    /// earlier ones, at most 500: they keep their ids (1 to 128 letters, digits, `-` or `_`) and
    /// their parts. The model is told that nobody has checked the results of their tool calls.
    #[schemars(with = "Vec<UiMessage>")]
    messages: Vec<Value>,
    /// `submit-message` (the default) or `regenerate-message`.
    #[schemars(extend("enum" = ["submit-message", "regenerate-message", null]))]
    trigger: Option<String>,
    /// The message to edit or to regenerate.
    message_id: Option<String>,
    /// The id of the chat block, if the page has several with this agent, or if the client shows what running tools ask
    /// (`data-tool-question`).
    block_id: Option<String>,
    /// The query string of the page.
    #[serde(default)]
    url_query: Map<String, Value>,
    /// The shared state of the page.
    #[serde(default)]
    shared_state: Map<String, Value>,
    /// The states of the composer's switches (`true` or `false`).
    #[serde(default)]
    switches: Map<String, Value>,
    /// Whether the agent writes a plan, for agents whose users may choose (`planMode: optional`).
    plan_mode: Option<bool>,
    /// Whether the agent searches documents, for agents whose users may choose (`documents` in `knowledge`).
    documents: Option<bool>,
    /// The ids of the libraries that the agent searches, at most 20, for agents whose users may choose (`choose` in
    /// `knowledge`). `GET /api/libraries?agentId=` lists them.
    libraries: Option<Vec<String>>,
    /// Whether the agent uses the web, for agents whose users may choose (`web`).
    web: Option<bool>,
    /// The id of the model that answers, for agents whose users may choose (`models`). It holds for the
    /// conversation until another is chosen.
    model: Option<String>,
    /// Whether the model thinks before it answers, for models whose users may choose (`thinking`). It
    /// holds for the conversation, too.
    thinking: Option<bool>,
    /// Whether the agent may hand tasks to a copy of itself in this answer, for agents whose users may choose
    /// (`delegate: optional`).
    delegate: Option<bool>,
}

/// The query of a send: the conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendQuery {
    /// The conversation; without it, the `conversationId` of the body, the one of its `id`, or a new one.
    conversation_id: Option<String>,
}

/// `POST /api/agent/{page}/{agent}?conversationId=ID`
pub(crate) async fn send(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    sent_with: Option<Extension<RequestContext>>,
    Path((page_id, agent_id)): Path<(String, String)>,
    Query(which): Query<SendQuery>,
    body: SentJson<SendBody>,
) -> Result<EventStream, HttpError> {
    state.composition.current.check_agent_on_page(&caller, &page_id, &agent_id)?;
    let body = valid_json(body)?;
    let (chat, heartbeat) = (&state.composition.chat, state.composition.limits.heartbeat);
    let conversation_id = match (which.conversation_id.or(body.conversation_id), &body.id) {
        (Some(id), _) => id,
        (None, Some(chat_id)) => conversation_id_for_chat(&page_id, &agent_id, chat_id),
        (None, None) => uuid::Uuid::now_v7().simple().to_string(),
    };
    let submission = match newest_message(&body.messages)? {
        newest if body.trigger.as_deref() == Some("regenerate-message") => {
            regenerate_submission(&newest, body.message_id)
        }
        newest if newest.role == Role::User => {
            let history = earlier_messages(chat, &caller, &conversation_id, &body.messages).await?;
            message_submission(newest, history, body.message_id)
        }
        newest => match pending_answers(chat, &caller, &conversation_id, &newest).await? {
            answers if answers.is_empty() => return Ok(empty_step_response(&newest, heartbeat)),
            answers => Submission::Answers { answers },
        },
    };
    let origin = sent_with.map_or(TextOrigin::User, |Extension(context)| context.text_origin());
    let request = SendRequest {
        page_id,
        block_id: body.block_id,
        agent_id,
        conversation_id,
        submission: origin.mark_submission(submission),
        shared_state: body.shared_state,
        url_query: body.url_query,
        switches: body.switches,
        options: RunOptions {
            plan_mode: body.plan_mode,
            documents: body.documents,
            libraries: body.libraries,
            web: body.web,
            model: body.model,
            thinking: body.thinking,
            delegate: body.delegate,
        },
    };
    Ok(stream::response(chat.send(&caller, request).await.map_err(in_body)?.frames, heartbeat))
}

/// Returns the conversation id for a client that only has its own chat id. Applications choose such
/// ids freely, so the same chat id with two agents must give two conversations.
fn conversation_id_for_chat(page_id: &str, agent_id: &str, chat_id: &str) -> String {
    format!("{page_id}-{agent_id}-{chat_id}")
}

/// Returns the id of the conversation in a path, which contains its id or the client's chat id.
async fn resolve_conversation_id(
    chat: &Chat,
    caller: &Caller,
    (page, agent, id): (String, String, String),
) -> Result<String, HttpError> {
    match chat.conversation(caller, &id).await {
        Ok(_) => Ok(id),
        Err(error) if error.code == ErrorCode::NotFound => Ok(conversation_id_for_chat(&page, &agent, &id)),
        Err(error) => Err(error.into()),
    }
}

/// `GET /api/agent/{page}/{agent}/{conversation}/stream`
pub(crate) async fn stream(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(names): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<OptionalStream, HttpError> {
    state.composition.current.check_agent_on_page(&caller, &names.0, &names.1)?;
    let conversation_id = resolve_conversation_id(&state.composition.chat, &caller, names).await?;
    let cursor = headers.get("last-event-id").map(|cursor| cursor.to_str().unwrap_or_default());
    let frames = state.composition.chat.watch(&caller, &conversation_id, cursor).await?;
    Ok(OptionalStream(frames.map(|frames| stream::response(frames, state.composition.limits.heartbeat))))
}

/// The body of a request for a summary.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactBody {
    /// The contents that the summary must keep in any case, in at most 2000 characters.
    focus: Option<String>,
    /// The id of the chat block, if the page has several with this agent.
    block_id: Option<String>,
    /// The query string of the page.
    #[serde(default)]
    url_query: Map<String, Value>,
    /// The shared state of the page.
    #[serde(default)]
    shared_state: Map<String, Value>,
}

/// `POST /api/agent/{page}/{agent}/{conversation}/compact`
pub(crate) async fn compact(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(names): Path<(String, String, String)>,
    body: SentJson<CompactBody>,
) -> Result<EventStream, HttpError> {
    state.composition.current.check_agent_on_page(&caller, &names.0, &names.1)?;
    let body = valid_json(body)?;
    let (page_id, agent_id) = (names.0.clone(), names.1.clone());
    let conversation_id = resolve_conversation_id(&state.composition.chat, &caller, names).await?;
    let message = UiMessage::user(uuid::Uuid::now_v7().simple().to_string(), String::new());
    let request = SendRequest {
        page_id,
        block_id: body.block_id,
        agent_id,
        conversation_id,
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: body.shared_state,
        url_query: body.url_query,
        switches: Map::new(),
        options: RunOptions::default(),
    };
    let sent = state.composition.chat.compact(&caller, request, body.focus.as_deref()).await?;
    Ok(stream::response(sent.frames, state.composition.limits.heartbeat))
}

/// `POST /api/agent/{page}/{agent}/{conversation}/stop`
pub(crate) async fn stop(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(names): Path<(String, String, String)>,
) -> Result<NoContent, HttpError> {
    if let Err(refused) = state.composition.current.check_agent_on_page(&caller, &names.0, &names.1) {
        check_begun_with(&state.composition.chat, &caller, &names, refused).await?;
    }
    let conversation_id = resolve_conversation_id(&state.composition.chat, &caller, names).await?;
    state.composition.chat.stop(&caller, &conversation_id).await?;
    Ok(NoContent)
}

/// Checks that a conversation of the caller began with this agent on this page. Otherwise an answer could not be stopped
/// whose agent or page was removed from the config meanwhile. `refused` is the error of the other check.
async fn check_begun_with(
    chat: &Chat,
    caller: &Caller,
    names: &(String, String, String),
    refused: UserError,
) -> Result<(), HttpError> {
    let (page_id, agent_id, _) = names;
    caller.check_page(page_id)?;
    caller.check_agent(agent_id)?;
    if refused.code != ErrorCode::NotFound {
        return Err(refused.into());
    }
    let conversation_id = resolve_conversation_id(chat, caller, names.clone()).await?;
    match chat.conversation(caller, &conversation_id).await {
        Ok(begun) if begun.summary.page_id == *page_id && begun.summary.agent_id == *agent_id => Ok(()),
        _ => Err(refused.into()),
    }
}

fn newest_message(messages: &[Value]) -> Result<UiMessage, HttpError> {
    let at = messages.len().checked_sub(1).ok_or_else(|| UserError::invalid("/messages", "`messages` is empty."))?;
    serde_json::from_value(messages[at].clone()).map_err(|error| {
        UserError::invalid(format!("/messages/{at}"), format!("The message is not valid: {error}.")).into()
    })
}

/// Builds a regeneration. `regenerate()` drops the answer before it sends: the newest message left
/// is the user's, and `messageId` names the dropped one.
fn regenerate_submission(newest: &UiMessage, message_id: Option<String>) -> Submission {
    Submission::Regenerate { message_id: message_id.or_else(|| Some(newest.id.clone())) }
}

/// Builds a new message. With `messageId` it is an edit: the client keeps the id, but the message
/// tree needs a new one.
fn message_submission(newest: UiMessage, history: Vec<UiMessage>, message_id: Option<String>) -> Submission {
    let replaces = message_id.filter(|id| *id == newest.id);
    let id = if replaces.is_some() { uuid::Uuid::now_v7().simple().to_string() } else { newest.id.clone() };
    Submission::Message { message: UiMessage { id, ..newest }, replaces, history }
}

/// Returns the messages before the newest one. In a conversation that the server has, they do not
/// matter, whatever they are.
async fn earlier_messages(
    chat: &Chat,
    caller: &Caller,
    conversation_id: &str,
    messages: &[Value],
) -> Result<Vec<UiMessage>, HttpError> {
    let mut read = Vec::new();
    for (at, message) in messages[..messages.len() - 1].iter().enumerate() {
        match serde_json::from_value(message.clone()) {
            Ok(message) => read.push(message),
            Err(_) if chat.conversation(caller, conversation_id).await.is_ok() => return Ok(Vec::new()),
            Err(error) => {
                let message = format!("The message is not valid: {error}.");
                return Err(UserError::invalid(format!("/messages/{at}"), message).into());
            }
        }
    }
    Ok(read)
}

/// Names a field of the earlier messages as the body of the request does.
fn in_body(error: UserError) -> UserError {
    let path = error.path.as_deref().and_then(|path| path.strip_prefix("/history"));
    match path.map(|rest| format!("/messages{rest}")) {
        Some(path) => UserError { path: Some(path), ..error },
        None => error,
    }
}

/// Returns the client's decisions and outputs for calls that are pending in the server's record.
/// Everything else is ignored, so a client cannot forge results of earlier calls.
async fn pending_answers(
    chat: &Chat,
    caller: &Caller,
    conversation_id: &str,
    sent: &UiMessage,
) -> Result<Vec<Answer>, HttpError> {
    let conversation = chat.conversation(caller, conversation_id).await?;
    let pending = |tool: &&ToolPart| matches!(tool.state, ToolState::InputAvailable | ToolState::ApprovalRequested);
    let Some(record) = conversation.messages.last().filter(|last| last.role == Role::Assistant) else {
        return Ok(Vec::new());
    };
    let of_client = |call_id: &str| sent.tools().rfind(|tool| tool.tool_call_id == call_id);
    let answered = record.tools().filter(pending);
    Ok(answered.filter_map(|tool| answer_to_call(tool, of_client(&tool.tool_call_id)?)).collect())
}

fn answer_to_call(pending: &ToolPart, sent: &ToolPart) -> Option<Answer> {
    let tool_call_id = pending.tool_call_id.clone();
    match (pending.state, sent.state) {
        (ToolState::ApprovalRequested, _) => {
            let approval = sent.approval.as_ref()?;
            let known = pending.approval.as_ref()?;
            if approval.id != known.id {
                return None;
            }
            let (approval_id, approved) = (Some(known.id.clone()), approval.approved?);
            let reason = approval.reason.clone();
            // The arguments that the client shows may differ from the record.
            let shown = sent.asked_arguments().filter(|_| pending.asked_arguments().is_none_or(is_exact_in_javascript));
            // Only the decision counts here: changed arguments and standing approvals can be given
            // only on our own page.
            Some(Answer::Approval {
                tool_call_id,
                approval_id,
                approved,
                input_hash: shown.map(wire::arguments_hash),
                reason,
                input: None,
                remember: None,
            })
        }
        (_, ToolState::OutputAvailable) => Some(Answer::Output { tool_call_id, output: sent.output.clone()? }),
        (_, ToolState::OutputError) => {
            Some(Answer::Error { tool_call_id, error_text: sent.error_text.clone().unwrap_or_default() })
        }
        _ => None,
    }
}

/// Whether a client in JavaScript sends a value back as it is: it rounds large integers.
fn is_exact_in_javascript(value: &Value) -> bool {
    const LARGEST: u64 = (1 << 53) - 1;
    match value {
        Value::Number(number) => {
            number.is_f64() || number.as_i64().map(i64::unsigned_abs).or(number.as_u64()).is_some_and(|n| n <= LARGEST)
        }
        Value::Array(items) => items.iter().all(is_exact_in_javascript),
        Value::Object(entries) => entries.values().all(is_exact_in_javascript),
        _ => true,
    }
}

/// Responds to a client that sent again although nothing is pending, as the AI SDK's helpers do
/// after a stop by a limit. An empty step makes them stop.
fn empty_step_response(message: &UiMessage, heartbeat: Duration) -> EventStream {
    use std::fmt::Write;
    let chunks = [
        wire::Chunk::Start { message_id: Some(message.id.clone()), message_metadata: None },
        wire::Chunk::StartStep,
        wire::Chunk::FinishStep,
        wire::Chunk::Finish { finish_reason: Some(wire::FinishReason::Stop), message_metadata: None },
    ];
    let mut events = String::new();
    for chunk in chunks {
        let _ = write!(events, "data: {}\n\n", serde_json::to_string(&chunk).unwrap_or_default());
    }
    events.push_str("data: [DONE]\n\n");
    stream::response(Box::pin(futures::stream::once(async { events.into() })), heartbeat)
}
