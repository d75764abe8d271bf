//! Watches a running answer.

use super::transport::error::ApiError;
use crate::prelude::*;
use server_fn::codec::{ByteStream, Json, Streaming};

/// Returns the stream of the running answer of a conversation; empty if there is none.
#[server(name = WatchConversation, prefix = "/ui", endpoint = "watch", input = Json, output = Streaming)]
pub async fn watch(
    /// The conversation.
    conversation_id: String,
    /// The `id` of the last event that was received; absent to start from the beginning, which
    /// sends the whole message.
    after: Option<String>,
) -> Result<ByteStream<ApiError>, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    let frames = context.chat.watch(&caller, &conversation_id, after.as_deref()).await?;
    Ok(frames.map_or_else(super::transport::frames::empty_stream, super::transport::frames::event_stream))
}
