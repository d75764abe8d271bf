//! Deletes a conversation.

use super::ApiError;
use super::codec::{Done, Json};
use leptos::prelude::*;

/// Deletes a conversation with all that belongs to it.
#[server(prefix = "/ui", endpoint = "delete", input = Json, output = Json)]
pub async fn delete_conversation(
    /// The conversation.
    id: String,
) -> Result<Done, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.delete(&caller, &id).await?;
    Ok(Done)
}
