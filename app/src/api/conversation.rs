//! Loads a conversation.

use super::ApiError;
use leptos::prelude::*;
use server_fn::codec::Json;
use wire::api::ConversationView;

/// One conversation as it stands.
#[server(prefix = "/ui", endpoint = "conversation", input = Json)]
pub async fn load_conversation(
    /// The conversation.
    id: String,
) -> Result<ConversationView, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.conversation(&caller, &id).await?)
}
