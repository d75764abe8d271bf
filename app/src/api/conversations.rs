//! Loads the list of conversations.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::api::ConversationList;
use wire::organize::ListFilter;

/// The number of conversations on the first page of the list.
pub const LIST_PAGE_SIZE: u32 = 30;

/// Returns a page of the caller's conversations: the pinned ones first, otherwise newest first. The
/// first page has at most [`LIST_PAGE_SIZE`] conversations, later ones are larger.
#[server(prefix = "/ui", endpoint = "conversations", input = Json, output = Json)]
pub async fn list_conversations(
    /// Which conversations are listed.
    filter: ListFilter,
    /// `next` of the previous page; absent for the first page.
    cursor: Option<String>,
) -> Result<ConversationList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    /// Larger, for users who scroll far.
    const NEXT_PAGE_SIZE: u32 = 100;
    let limit = if cursor.is_some() { NEXT_PAGE_SIZE } else { LIST_PAGE_SIZE };
    Ok(context.conversations(&caller, filter, limit, cursor).await?)
}
