//! Follows an answer that is being written.

use super::ApiError;
use crate::prelude::*;
use server_fn::codec::{ByteStream, Json, Streaming};

/// The stream of the answer that is being written in a conversation; empty when none is.
#[server(name = WatchConversation, prefix = "/ui", endpoint = "watch", input = Json, output = Streaming)]
pub async fn watch(
    /// The conversation.
    conversation_id: String,
    /// The `id` of the last event that was seen; absent: from the start, which tells the message whole.
    after: Option<String>,
) -> Result<ByteStream<ApiError>, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    let frames = context.chat.watch(&caller, &conversation_id, after.as_deref()).await?;
    Ok(frames.map_or_else(super::frames::nothing, super::frames::stream))
}
