//! Ends an answer that is being written.

use super::ApiError;
use leptos::prelude::*;
use server_fn::codec::Json;

/// Ends the answer that is being written in a conversation, if one is. What was written stays.
#[server(name = StopConversation, prefix = "/ui", endpoint = "stop", input = Json)]
pub async fn stop(
    /// The conversation.
    conversation_id: String,
) -> Result<(), ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.stop(&caller, &conversation_id).await?)
}
