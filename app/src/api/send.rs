//! Sends a submission to the agent.

use super::transport::error::ApiError;
use crate::prelude::*;
use server_fn::codec::{ByteStream, Json, Streaming};
use wire::api::SendRequest;

/// Submits a message, answers, or a request to continue or regenerate. The response is the stream
/// of the assistant's message, always complete: a continued message begins with what it already
/// contained. If the submission was stored but no run is active (other questions are still open, or
/// the answer has ended already), the stream is empty and the conversation is loaded instead.
#[server(name = SendToAgent, prefix = "/ui", endpoint = "send", input = Json, output = Streaming)]
pub async fn send(
    /// The submission.
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
        return Ok(super::transport::frames::event_stream(sent.frames));
    }
    let whole = context.chat.watch(&caller, &conversation_id, None).await?;
    Ok(whole.map_or_else(super::transport::frames::empty_stream, super::transport::frames::event_stream))
}
