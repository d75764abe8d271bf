//! Links to copies of a conversation.

use super::ApiError;
use super::codec::Json;
use crate::prelude::*;
use wire::order::ShareList;

/// The links to copies of a conversation, the newest first; before that one is made or taken away.
#[server(prefix = "/ui", endpoint = "shares", input = Json, output = Json)]
pub async fn shares(
    /// The conversation.
    id: String,
    /// Makes one; whether with what tools were given and gave.
    create: Option<bool>,
    /// Takes this one away.
    revoke: Option<String>,
) -> Result<ShareList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    if let Some(tool_results) = create {
        context.chat.share(&caller, &id, tool_results).await?;
    }
    if let Some(link) = revoke {
        context.chat.unshare(&caller, &link).await?;
    }
    Ok(context.chat.shares(&caller, &id).await?)
}
