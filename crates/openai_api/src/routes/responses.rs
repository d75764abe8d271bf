//! `POST /v1/responses`

use super::admit::{RequestBody, completion, not_begun};
use super::drive::{Answered, Driven, Writer};
use super::{files, references};
use crate::answer::response::ResponseWriter;
use crate::answer::turn::{Ended, Output, Turn};
use crate::error::ApiError;
use crate::request::history::{History, ReadHistory, new_id};
use crate::request::responses::{ResponseCall, ResponsesRequest};
use crate::store::{self, FinishedResponse, NewResponse, StoredResponse};
use ::store::AlsoWrite;
use axum::Json;
use axum::extract::State;
use axum::{Extension, response};
use bytes::Bytes;
use capability::Context;
use chat::{Caller, Exchange};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use web::openapi::{Description, RouteOutput};
use web::times::now_millis;
use wire::api::{MessageMetadata, Outcome};
use wire::{EndReason, Role, UiMessage, UserError};

/// The longest title of a conversation, in characters.
const MAX_TITLE: usize = 60;

/// A response as JSON. Its parts are those of OpenAI's API.
pub(super) struct ResponseObject(pub(super) Value);

impl response::IntoResponse for ResponseObject {
    fn into_response(self) -> response::Response {
        Json(self.0).into_response()
    }
}

impl RouteOutput for ResponseObject {
    fn describe(description: &mut Description<'_>) {
        let schema = json!({
            "type": "object",
            "required": ["id", "object", "created_at", "status", "model", "output"],
            "properties": {
                "id": { "type": "string" },
                "object": { "const": "response" },
                "created_at": { "type": "integer" },
                "status": { "enum": ["in_progress", "completed", "incomplete", "failed", "cancelled"] },
                "model": { "type": "string" },
                "output": { "type": "array", "items": { "type": "object" } },
            },
        });
        description.response(200, "application/json", &schema);
    }
}

/// Writes a response, and stores it.
struct StoringWriter {
    writer: ResponseWriter,
    context: Context,
    caller: Caller,
    run_id: String,
    cancel: CancellationToken,
    /// The new messages of the conversation in which the response is stored, without the answer; `None` if it is not
    /// stored.
    kept: Option<Exchange>,
}

impl Writer for StoringWriter {
    type Object = ResponseObject;

    fn begin(&mut self) -> Vec<Bytes> {
        self.writer.begin()
    }

    fn write(&mut self, output: Output) -> Vec<Bytes> {
        self.writer.write(output)
    }

    async fn end(mut self, ended: Ended) -> (Vec<Bytes>, Result<ResponseObject, ApiError>) {
        let is_cancelled = self.cancel.is_cancelled()
            || matches!(ended.reason, Some(EndReason::StoppedByUser | EndReason::StoppedByAdmin));
        let (mut last, response) = self.writer.end(&ended, is_cancelled, now_millis() / 1_000);
        let failure = ended.result.as_ref().err().cloned();
        // The response is stored before the client receives its end.
        if let Some(exchange) = self.kept.take()
            && let Err(error) = keep(&self, exchange, ended, &response, is_cancelled).await
        {
            let error = ApiError::from(error);
            last.extend(self.writer.error(&error));
            return (last, Err(error));
        }
        last.extend(self.writer.last(&response));
        match failure {
            Some(error) => (last, Err(error)),
            None => (last, Ok(ResponseObject(response))),
        }
    }
}

/// Stores a response with what was said.
async fn keep(
    of: &StoringWriter,
    mut exchange: Exchange,
    ended: Ended,
    response: &Value,
    is_cancelled: bool,
) -> Result<(), UserError> {
    let mut answer = match exchange.messages.pop_if(|last| last.role == Role::Assistant) {
        // The answer goes on after the results of its calls.
        Some(mut before) => {
            before.parts.extend(ended.message.parts.clone());
            before
        }
        None => ended.message.clone(),
    };
    answer.metadata = serde_json::to_value(metadata(&ended, is_cancelled)).ok();
    let end = FinishedResponse {
        id: format!("resp_{}", of.run_id),
        owner: of.caller.user_id.clone(),
        status: response["status"].as_str().unwrap_or_default().to_owned(),
        body: response.clone(),
        kept: Some((exchange.conversation_id.clone(), answer.id.clone())),
    };
    exchange.messages.push(answer);
    let also: AlsoWrite = Box::new(move |db| Box::pin(store::finish(db, end)));
    of.context.chat.keep_exchange(&of.caller, exchange, also).await
}

fn metadata(ended: &Ended, is_cancelled: bool) -> MessageMetadata {
    let (outcome, reason) = match &ended.result {
        Ok(_) => {
            let reason = ended.reason.filter(|reason| reason.is_cut()).unwrap_or(EndReason::Done);
            (reason.outcome(), reason)
        }
        Err(_) if is_cancelled => (Outcome::Stopped, EndReason::StoppedByUser),
        Err(_) => {
            let reason = ended.reason.unwrap_or(EndReason::Other);
            (reason.outcome(), reason)
        }
    };
    let error = ended.result.as_ref().err().filter(|_| outcome == Outcome::Failed);
    MessageMetadata {
        created_at: Some(now_millis()),
        outcome: Some(outcome),
        reason: Some(reason),
        limit: (outcome == Outcome::Limit).then_some(reason),
        error: error.map(|error| UserError::new(wire::ErrorCode::Unavailable, error.body.message.clone())),
        usage: Some(ended.usage),
        ..MessageMetadata::default()
    }
}

/// `POST /v1/responses`
pub(super) async fn create(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    body: RequestBody<ResponsesRequest>,
) -> Result<Answered<ResponseObject>, ApiError> {
    let mut call = body.read(ResponseCall::read).await?;
    let previous = previous(&context, &caller, &call).await?;
    let mut instructions: Vec<_> = call.instructions.iter().cloned().collect();
    let history = match &previous {
        None => History::empty(),
        Some(Previous { id, conversation_id, message_id, open }) => {
            instructions.extend(store::instructions(&context.store, &caller.user_id, id).await?);
            History::new(context.chat.branch_to(&caller, conversation_id, message_id).await?, open)
        }
    };
    let entries = references::resolve(&context, &caller, std::mem::take(&mut call.entries)).await?;
    let mut history = history.read(entries, &call.parameters.tools.names(), "input")?;
    let request = completion(&context, &call.parameters, instructions, &history).await?;
    let cancel = CancellationToken::new();
    let begun = context.chat.complete(&caller, request, cancel.clone()).await;
    let run = begun.map_err(|error| not_begun(error, &call.parameters))?;
    // Ends the run if what follows fails.
    let unfinished = cancel.clone().drop_guard();
    let created_at = now_millis();
    let writer = ResponseWriter::new(&run.run_id, created_at / 1_000, &call);
    let mut kept = None;
    if call.store {
        let first = history.kept;
        files::keep(&context, &caller, &mut history.messages[first..]).await?;
        let previous = previous.map(|previous| (previous.id, previous.conversation_id));
        let conversation = previous.as_ref().map(|(_, conversation)| conversation.clone());
        let new = NewResponse {
            id: format!("resp_{}", run.run_id),
            owner: caller.user_id.clone(),
            agent_id: call.parameters.model.clone(),
            run_id: run.run_id.clone(),
            body: writer.object().clone(),
            input: with_ids(std::mem::take(&mut call.items), &run.run_id),
            previous,
            instructions: history.instructions.take(),
            created_at,
        };
        kept = Some(exchange(&context, &caller, &call, history, conversation));
        store::begin(&context.store, new).await?;
    }
    let parameters = call.parameters;
    let (holds_text, one_call) = (parameters.schema.is_some(), !parameters.parallel_tool_calls);
    let heartbeat = context.current.config().limits.heartbeat;
    let driven = Driven {
        turn: Turn::new(new_id(), &parameters.tools.names(), holds_text, one_call),
        writer: StoringWriter { writer, context, caller, run_id: run.run_id, cancel: cancel.clone(), kept },
        frames: run.frames,
        cancel,
    };
    unfinished.disarm();
    driven.respond(parameters.stream, heartbeat).await
}

/// The response that another one continues.
struct Previous {
    id: String,
    conversation_id: String,
    /// Its answer.
    message_id: String,
    /// The ids of its calls that have no results.
    open: Vec<String>,
}

/// Returns the response that this one continues.
async fn previous(context: &Context, caller: &Caller, call: &ResponseCall) -> Result<Option<Previous>, ApiError> {
    const PARAM: &str = "previous_response_id";
    let Some(id) = &call.previous_response_id else { return Ok(None) };
    let found = store::one(&context.store, &caller.user_id, id).await?;
    let Some(StoredResponse { agent_id, kept, status, body, .. }) = found else {
        let id: String = id.chars().take(100).collect();
        let message = format!("Previous response with id `{id}` not found.");
        return Err(ApiError::from(UserError::new(wire::ErrorCode::NotFound, message)).at(PARAM));
    };
    if agent_id != call.parameters.model {
        let message = format!("A conversation stays with one agent. This one is with `{agent_id}`.");
        return Err(ApiError::invalid("model", message));
    }
    let is_complete = ["completed", "incomplete"].contains(&status.as_str());
    let Some((conversation_id, message_id)) = kept.filter(|_| is_complete) else {
        let message = format!("The response cannot be continued: it is `{status}`.");
        return Err(ApiError::invalid(PARAM, message));
    };
    let calls = body["output"].as_array().into_iter().flatten().filter(|item| item["type"] == "function_call");
    let open = calls.filter_map(|item| item["call_id"].as_str().map(str::to_owned)).collect();
    Ok(Some(Previous { id: id.clone(), conversation_id, message_id, open }))
}

/// Returns the new messages of the conversation, without the answer.
fn exchange(
    context: &Context,
    caller: &Caller,
    call: &ResponseCall,
    history: ReadHistory,
    conversation: Option<String>,
) -> Exchange {
    let ReadHistory { mut messages, kept, .. } = history;
    let title = title(&messages);
    let new = messages.split_off(kept);
    Exchange {
        conversation_id: conversation.unwrap_or_else(new_id),
        page_id: context.current.page_for_agent(caller, &call.parameters.model).unwrap_or_default(),
        agent_id: call.parameters.model.clone(),
        title,
        parent_id: messages.pop().map(|last| last.id),
        messages: new,
    }
}

fn title(messages: &[UiMessage]) -> String {
    let first = messages.iter().find(|message| message.role == Role::User).map(UiMessage::text).unwrap_or_default();
    let title: String = first.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect();
    if title.is_empty() { "API".to_owned() } else { title }
}

/// Returns the items with their ids.
fn with_ids(items: Vec<Value>, run_id: &str) -> Vec<Value> {
    let items = items.into_iter().enumerate().map(|(at, mut item)| {
        let prefix = match item["type"].as_str() {
            Some("function_call") => "fc",
            Some("function_call_output") => "fco",
            Some("reasoning") => "rs",
            _ => "msg",
        };
        item["id"] = format!("{prefix}_{run_id}_in{at}").into();
        item
    });
    items.collect()
}
