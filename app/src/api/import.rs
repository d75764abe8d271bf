//! Imports a conversation from a file.

use super::transport::codec::{CreatedId, Json};
use super::transport::error::ApiError;
use crate::prelude::*;

/// Creates a conversation on this page from a JSON export and returns its id.
#[server(prefix = "/ui", endpoint = "import", input = Json, output = Json)]
pub async fn import_conversation(
    /// The id of the page.
    page_id: String,
    /// The content of the file.
    file: String,
) -> Result<CreatedId, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    let file = serde_json::from_str::<chat::ExportedConversation>(&file).map_err(|error| {
        wire::UserError::invalid("/file", format!("This file is not an exported conversation: {error}."))
    })?;
    Ok(CreatedId(context.chat.import(&caller, chat::ExportedConversation { page_id, ..file }).await?))
}
