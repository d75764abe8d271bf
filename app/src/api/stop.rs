//! Stops a running answer.

use super::transport::codec::{Json, NoContent};
use super::transport::error::ApiError;
use crate::prelude::*;

/// Stops the running answer of a conversation, if there is one. The text so far is kept.
#[server(name = StopConversation, prefix = "/ui", endpoint = "stop", input = Json, output = Json)]
pub async fn stop(
    /// The conversation.
    conversation_id: String,
) -> Result<NoContent, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.stop(&caller, &conversation_id).await?;
    Ok(NoContent)
}
