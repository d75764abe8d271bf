//! Searches conversations.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::organize::SearchHitList;

/// The number of results on a page.
pub const SEARCH_PAGE_SIZE: u32 = 20;

/// Returns the caller's conversations with these words in the title or in a message, newest first,
/// at most [`SEARCH_PAGE_SIZE`].
#[server(prefix = "/ui", endpoint = "search", input = Json, output = Json)]
pub async fn search_conversations(
    /// The words to search for.
    text: String,
    /// `next` of the previous page; absent for the first page.
    cursor: Option<String>,
) -> Result<SearchHitList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.search(&caller, &text, SEARCH_PAGE_SIZE, cursor.as_deref()).await?)
}
