//! Claims events of an answer, so that one page acts on each.

use super::ApiError;
use super::codec::Json;
use crate::prelude::*;
use wire::events::GrantedEvents;

/// Claims events of an answer for this page; answers with those that no other page has.
#[server(name = ClaimEvents, prefix = "/ui", endpoint = "claim", input = Json, output = Json)]
pub async fn claim_events(
    /// The conversation.
    conversation_id: String,
    /// The answer.
    message_id: String,
    /// The events.
    keys: Vec<String>,
    /// Tells this claim from others.
    by: String,
) -> Result<GrantedEvents, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.claim_events(&caller, conversation_id, message_id, keys, by).await?)
}
