//! Changes of messages: branches, deletions, feedback and copies.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::change::{ChangeResult, MessageChange};

/// Selects another branch, deletes a message, records feedback or copies the conversation: the
/// changes that do not run the agent.
#[server(name = ReviseConversation, prefix = "/ui", endpoint = "revise", input = Json, output = Json)]
pub async fn revise(
    /// The conversation.
    id: String,
    /// The change.
    change: MessageChange,
) -> Result<ChangeResult, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.revise(&caller, &id, change).await?)
}
