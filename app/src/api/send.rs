//! Sends something to the agent.

use super::ApiError;
use crate::prelude::*;
use server_fn::codec::{ByteStream, Json, Streaming};
use wire::api::SendRequest;

/// Gives the agent something to do. The answer is the stream of the assistant's message, always told whole: one that goes on
/// begins with what it held before. When the message was stored but nothing is being written (other questions are still open, or
/// the answer has ended already), the stream is empty and the conversation is loaded instead.
#[server(name = SendToAgent, prefix = "/ui", endpoint = "send", input = Json, output = Streaming)]
pub async fn send(
    /// What to do.
    request: SendRequest,
) -> Result<ByteStream<ApiError>, ApiError> {
    use wire::api::Submission::{Answers, Continue, Message, Regenerate};
    let (context, caller) = crate::context::authorize()?;
    let conversation_id = request.conversation_id.clone();
    let is_new = match &request.submission {
        Message { .. } | Regenerate { .. } => true,
        Answers { .. } | Continue => false,
    };
    let sent = context.chat.send(&caller, request).await?;
    if is_new {
        return Ok(super::frames::stream(sent.frames));
    }
    let whole = context.chat.watch(&caller, &conversation_id, None).await?;
    Ok(whole.map_or_else(super::frames::nothing, super::frames::stream))
}
