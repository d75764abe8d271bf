//! Takes a standing approval back.

use super::ApiError;
use super::codec::{Done, Json};
use crate::prelude::*;

/// Takes a standing approval back: from the next call on, the user is asked again.
#[server(prefix = "/ui", endpoint = "revoke", input = Json, output = Json)]
pub async fn revoke_grant(
    /// The approval.
    id: String,
) -> Result<Done, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    context.chat.revoke(&caller, &id).await?;
    Ok(Done)
}
