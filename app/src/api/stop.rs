//! Ends an answer that is being written.

use super::ApiError;
use super::codec::Json;
use leptos::prelude::*;

/// Ends the answer that is being written in a conversation, if one is. What was written stays.
#[server(name = StopConversation, prefix = "/ui", endpoint = "stop", input = Json, output = Json)]
pub async fn stop(
    /// The conversation.
    conversation_id: String,
) -> Result<(), ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.stop(&caller, &conversation_id).await?)
}
