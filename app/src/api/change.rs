//! Changes conversations.

use super::transport::codec::{Json, NoContent};
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::organize::ConversationChange;

/// Changes several conversations atomically: title, pin, archive, folder, read state, deletion and
/// its undo.
#[server(prefix = "/ui", endpoint = "change", input = Json, output = Json)]
pub async fn change_conversations(
    /// The conversations.
    ids: Vec<String>,
    /// The change.
    change: ConversationChange,
) -> Result<NoContent, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.change(&caller, ids, change).await?;
    Ok(NoContent)
}
