//! Revokes a standing approval.

use super::transport::codec::{Json, NoContent};
use super::transport::error::ApiError;
use crate::prelude::*;

/// Revokes a standing approval: the user is asked again from the next call on.
#[server(prefix = "/ui", endpoint = "revoke", input = Json, output = Json)]
pub async fn revoke_grant(
    /// The id of the standing approval.
    id: String,
) -> Result<NoContent, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.revoke(&caller, &id).await?;
    Ok(NoContent)
}
