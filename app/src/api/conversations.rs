//! Loads the list of conversations.

use super::ApiError;
use super::codec::Json;
use crate::prelude::*;
use wire::api::ConversationList;
use wire::order::ListFilter;

/// How many conversations the first page of the list holds.
pub const LIST_PAGE: u32 = 30;

/// The caller's conversations, the pinned ones first, each kind newest first, at most [`LIST_PAGE`], or some more where it goes on.
#[server(prefix = "/ui", endpoint = "conversations", input = Json, output = Json)]
pub async fn list_conversations(
    /// Which of them.
    filter: ListFilter,
    /// `next` of the page before; absent: the newest.
    cursor: Option<String>,
) -> Result<ConversationList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    /// For those who scroll far.
    const FURTHER_PAGE: u32 = 100;
    let limit = if cursor.is_some() { FURTHER_PAGE } else { LIST_PAGE };
    Ok(context.conversations(&caller, filter, limit, cursor).await?)
}
