//! Agents as tools: a message in, the answer out. The conversation is the caller's own.

use crate::answer::{AnswerReader, ConversationLink, not_begun};
use crate::call::{Call, Client, failed};
use crate::content;
use crate::section::OfferedAgent;
use crate::store;
use capability::Context;
use chat::{SendResponse, TextOrigin};
use futures::StreamExt;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::query_encoded;
use web::times::now_millis;
use wire::api::{RunOptions, SendRequest, Submission};
use wire::{UiMessage, UserError};

/// The arguments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    message: String,
    conversation_id: Option<String>,
}

/// Returns the JSON Schema of the arguments.
pub(crate) fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": { "type": "string", "minLength": 1, "description": "The question for the agent." },
            "conversationId": { "type": "string", "description": "The conversation to continue, from an earlier result. Without it, a new one begins." },
        },
        "required": ["message"],
        "additionalProperties": false,
    })
}

/// Returns the JSON Schema of the structured content of a result.
pub(crate) fn output_schema() -> Value {
    content::schema()
}

/// Asks an agent, and waits for the end of its answer. A call that is cancelled stops the run.
pub(crate) async fn ask(context: &Context, client: &Client, agent: &OfferedAgent, mut call: Call) -> CallToolResult {
    let arguments = std::mem::take(&mut call.arguments);
    let arguments = match serde_json::from_value(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return failed(format!("The arguments are not valid: {error}.")),
    };
    match send(context, client, agent, arguments).await {
        Ok((sent, link)) => {
            remember(context, client, &link).await;
            let result = follow(context, client, sent, &link, call).await;
            forget(context, client, link).await;
            result
        }
        Err(error) => not_begun(error),
    }
}

/// Sends the message.
async fn send(
    context: &Context,
    client: &Client,
    agent: &OfferedAgent,
    arguments: Arguments,
) -> Result<(SendResponse, ConversationLink), UserError> {
    let Client { caller, origin, .. } = client;
    let page_id = context.current.page_for_agent(caller, &agent.agent_id).ok_or_else(UserError::not_found)?;
    let conversation_id = match arguments.conversation_id {
        Some(id) => {
            // Only a conversation that exists is continued.
            let known = context.store.conversation(&caller.user_id, &id).await;
            if known.map_err(|error| web::HttpError::from(error).0)?.is_none() {
                let message = "There is no conversation with this id. Leave `conversationId` out to begin a new one.";
                return Err(UserError::new(wire::ErrorCode::NotFound, message));
            }
            id
        }
        None => uuid::Uuid::now_v7().simple().to_string(),
    };
    let url = format!("{origin}/{page_id}?conversation={}", query_encoded(&conversation_id));
    // The client's model has written it.
    let message = UiMessage::user(uuid::Uuid::now_v7().simple().to_string(), arguments.message);
    let message = TextOrigin::Program.mark(message);
    let request = SendRequest {
        page_id,
        block_id: None,
        agent_id: agent.agent_id.clone(),
        conversation_id: conversation_id.clone(),
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: RunOptions::default(),
    };
    let sent = context.chat.send(caller, request).await?;
    Ok((sent, ConversationLink { conversation_id, url }))
}

/// Stores which conversation the call is in, so that any server can cancel it. Without that, only this server can.
async fn remember(context: &Context, client: &Client, link: &ConversationLink) {
    let Some(key) = client.call.clone() else { return };
    if let Err(error) = store::begin(&context.store, key, link.conversation_id.clone(), now_millis()).await {
        tracing::warn!(%error, "a call could not be stored");
    }
}

/// Forgets a call that has ended.
async fn forget(context: &Context, client: &Client, link: ConversationLink) {
    let Some(key) = client.call.clone() else { return };
    if let Err(error) = store::end(&context.store, key, link.conversation_id).await {
        tracing::warn!(%error, "a call that has ended could not be forgotten");
    }
}

/// Follows a run to its end.
async fn follow(
    context: &Context,
    client: &Client,
    sent: SendResponse,
    link: &ConversationLink,
    call: Call,
) -> CallToolResult {
    let Call { mut progress, cancel, .. } = call;
    let SendResponse { message_id, mut frames, .. } = sent;
    let mut answer = AnswerReader::new(&message_id);
    let mut is_stopped = false;
    loop {
        let frame = tokio::select! {
            frame = frames.next() => frame,
            () = cancel.cancelled(), if !is_stopped => {
                is_stopped = true;
                // What was written stays. The stream ends when the run has.
                if let Err(error) = context.chat.stop(&client.caller, &link.conversation_id).await {
                    tracing::warn!(%error, "a cancelled run could not be stopped");
                }
                continue;
            }
        };
        let Some(frame) = frame else { break };
        answer.push(&frame, &mut progress).await;
    }
    answer.result(link)
}
