//! Renames a conversation.

use super::ApiError;
use super::codec::{Done, Json};
use leptos::prelude::*;

/// Gives a conversation another title.
#[server(prefix = "/ui", endpoint = "rename", input = Json, output = Json)]
pub async fn rename_conversation(
    /// The conversation.
    id: String,
    /// Its new title.
    title: String,
) -> Result<Done, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.rename(&caller, &id, &title).await?;
    Ok(Done)
}
