//! Claims events of an answer, so that only one open page acts on each.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::page::events::GrantedEvents;

/// Claims events of an answer for this page. Returns those that no other page has claimed.
#[server(name = ClaimEvents, prefix = "/ui", endpoint = "claim", input = Json, output = Json)]
pub async fn claim_events(
    /// The conversation.
    conversation_id: String,
    /// The id of the answer.
    message_id: String,
    /// The keys of the events.
    keys: Vec<String>,
    /// Identifies the claiming page.
    by: String,
) -> Result<GrantedEvents, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.claim_events(&caller, conversation_id, message_id, keys, by).await?)
}
