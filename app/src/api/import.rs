//! A conversation out of a file.

use super::ApiError;
use super::codec::{Json, Made};
use crate::prelude::*;

/// Makes a conversation that goes on on this page out of what was exported as JSON; answers with its id.
#[server(prefix = "/ui", endpoint = "import", input = Json, output = Json)]
pub async fn import_conversation(
    /// The page.
    page_id: String,
    /// The file's text.
    file: String,
) -> Result<Made, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    let file = serde_json::from_str::<chat::Exported>(&file).map_err(|error| {
        wire::UserError::invalid("/file", format!("This file is not an exported conversation: {error}."))
    })?;
    Ok(Made(context.chat.import(&caller, chat::Exported { page_id, ..file }).await?))
}
