//! Another branch, a deletion, a judgement or a copy.

use super::ApiError;
use super::codec::Json;
use crate::prelude::*;
use wire::change::{Change, Changed};

/// Another branch, a deletion, a judgement or a copy: what asks nothing of the agent.
#[server(name = ReviseConversation, prefix = "/ui", endpoint = "revise", input = Json, output = Json)]
pub async fn revise(
    /// The conversation.
    id: String,
    /// What becomes of it.
    change: Change,
) -> Result<Changed, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.revise(&caller, &id, change).await?)
}
