//! Loads a conversation.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::api::ConversationView;

/// A conversation from the server. In the browser its JSON is read with the code that shows
/// messages, so that a page without a conversation does not download code for reading them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoadedConversation(Content);

#[cfg(feature = "ssr")]
type Content = ConversationView;
#[cfg(not(feature = "ssr"))]
type Content = Value;

/// Reads the JSON of a conversation.
pub(crate) type ReadConversation = fn(Value) -> serde_json::Result<ConversationView>;

impl LoadedConversation {
    /// Returns the conversation. `read` is part of a chunk.
    ///
    /// # Errors
    /// The JSON is that of another version.
    #[cfg(not(feature = "ssr"))]
    pub(crate) fn read(self, read: ReadConversation) -> Result<ConversationView, ApiError> {
        read(self.0).map_err(|_| super::server_data::decode_error())
    }

    /// Returns the conversation.
    #[cfg(feature = "ssr")]
    #[expect(clippy::unnecessary_wraps, reason = "in the browser it can fail")]
    pub(crate) fn read(self, _: ReadConversation) -> Result<ConversationView, ApiError> {
        Ok(self.0)
    }
}

/// Returns a conversation in its current state.
#[server(prefix = "/ui", endpoint = "conversation", input = Json, output = Json)]
pub async fn load_conversation(
    /// The conversation.
    id: String,
) -> Result<LoadedConversation, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(LoadedConversation(context.conversation(&caller, &id).await?))
}
