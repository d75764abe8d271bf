//! Agents as tools: a message in, the answer out. The conversation is the caller's own.

use crate::answer::{ConversationLink, not_begun};
use crate::asking::{Followed, rounds};
use crate::call::{Call, Client, failed};
use crate::content;
use crate::section::OfferedAgent;
use crate::store;
use capability::Context;
use chat::{SendResponse, TextOrigin};
use rmcp::model::CallToolResponse;
use serde::Deserialize;
use serde_json::{Map, Value, json};
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
pub(crate) async fn ask(context: &Context, client: &Client, agent: &OfferedAgent, mut call: Call) -> CallToolResponse {
    let Some(page_id) = context.current.page_for_agent(&client.caller, &agent.agent_id) else {
        return not_begun(UserError::not_found()).into();
    };
    if let Some(retry) = call.retry.take() {
        return rounds::resume(context, client, &agent.agent_id, &page_id, call, retry).await;
    }
    let arguments = std::mem::take(&mut call.arguments);
    let arguments = match serde_json::from_value(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return failed(format!("The arguments are not valid: {error}.")).into(),
    };
    match send(context, client, agent, page_id, arguments).await {
        Ok((sent, link)) => {
            remember(context, client, &link).await;
            let SendResponse { message_id, frames, .. } = sent;
            let followed = Followed { context, client, link: &link, message_id: &message_id };
            let ended = followed.follow(frames, &mut call).await;
            let result = followed.to_end(ended, &mut call, Vec::new()).await;
            forget(context, client, link).await;
            result
        }
        Err(error) => not_begun(error).into(),
    }
}

/// Sends the message.
async fn send(
    context: &Context,
    client: &Client,
    agent: &OfferedAgent,
    page_id: String,
    arguments: Arguments,
) -> Result<(SendResponse, ConversationLink), UserError> {
    let caller = &client.caller;
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
    // The client's model has written it.
    let message = UiMessage::user(uuid::Uuid::now_v7().simple().to_string(), arguments.message);
    let message = TextOrigin::Program.mark(message);
    let link = ConversationLink::new(client, &page_id, conversation_id.clone());
    let request = SendRequest {
        page_id,
        block_id: None,
        agent_id: agent.agent_id.clone(),
        conversation_id,
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: RunOptions::default(),
    };
    let sent = context.chat.send(caller, request).await?;
    Ok((sent, link))
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
