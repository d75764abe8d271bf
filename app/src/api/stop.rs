//! Ends an answer that is being written.

use super::ApiError;
use super::codec::{Done, Json};
use crate::prelude::*;

/// Ends the answer that is being written in a conversation, if one is. What was written stays.
#[server(name = StopConversation, prefix = "/ui", endpoint = "stop", input = Json, output = Json)]
pub async fn stop(
    /// The conversation.
    conversation_id: String,
) -> Result<Done, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.stop(&caller, &conversation_id).await?;
    Ok(Done)
}
