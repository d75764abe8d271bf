//! Searches in conversations.

use super::ApiError;
use super::codec::Json;
use crate::prelude::*;
use wire::order::FoundList;

/// Finds of one page.
pub const SEARCH_PAGE: u32 = 20;

/// The caller's conversations whose title or a message has the words, newest first, at most [`SEARCH_PAGE`].
#[server(prefix = "/ui", endpoint = "search", input = Json, output = Json)]
pub async fn search_conversations(
    /// The words.
    text: String,
    /// `next` of the page before; absent: the newest.
    cursor: Option<String>,
) -> Result<FoundList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.search(&caller, &text, SEARCH_PAGE, cursor.as_deref()).await?)
}
