//! Lists the user's standing approvals.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::api::StandingApprovals;

/// Returns the caller's standing approvals, newest first.
#[server(prefix = "/ui", endpoint = "grants", input = Json, output = Json)]
pub async fn list_grants() -> Result<StandingApprovals, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.chat.standing_approvals(&caller).await?)
}
