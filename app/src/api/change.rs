//! Changes conversations.

use super::ApiError;
use super::codec::{Done, Json};
use crate::prelude::*;
use wire::order::ConversationChange;

/// Changes conversations, all or none: title, pin, archive, folder, whether they were read, deletion and its undo.
#[server(prefix = "/ui", endpoint = "change", input = Json, output = Json)]
pub async fn change_conversations(
    /// The conversations.
    ids: Vec<String>,
    /// What changes.
    change: ConversationChange,
) -> Result<Done, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.change(&caller, ids, change).await?;
    Ok(Done)
}
