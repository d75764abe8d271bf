//! Loads a conversation.

use super::ApiError;
use super::codec::Json;
use crate::prelude::*;
use wire::api::ConversationView;

/// One conversation as it stands.
#[server(prefix = "/ui", endpoint = "conversation", input = Json, output = Json)]
pub async fn load_conversation(
    /// The conversation.
    id: String,
) -> Result<ConversationView, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.conversation(&caller, &id).await?)
}
