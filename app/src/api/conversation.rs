//! Loads a conversation.

use super::codec::Json;
use super::error::ApiError;
use crate::prelude::*;
use wire::api::ConversationView;

/// Returns a conversation in its current state.
#[server(prefix = "/ui", endpoint = "conversation", input = Json, output = Json)]
pub async fn load_conversation(
    /// The conversation.
    id: String,
) -> Result<ConversationView, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.conversation(&caller, &id).await?)
}
