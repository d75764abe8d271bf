//! Share links of a conversation.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::organize::ShareList;

/// Returns the share links of a conversation, newest first. Before that it revokes or creates one,
/// if requested.
#[server(prefix = "/ui", endpoint = "shares", input = Json, output = Json)]
pub async fn shares(
    /// The conversation.
    id: String,
    /// Creates a link; the value says whether the shared copy includes the inputs and results of
    /// tools.
    create: Option<bool>,
    /// Revokes the link with this id.
    revoke: Option<String>,
) -> Result<ShareList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    // First, so that nothing is created if there is no such link.
    if let Some(link) = revoke {
        context.chat.unshare(&caller, &link).await?;
    }
    if let Some(tool_results) = create {
        context.chat.share(&caller, &id, tool_results).await?;
    }
    Ok(context.chat.shares(&caller, &id).await?)
}
