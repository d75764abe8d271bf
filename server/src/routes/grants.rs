//! The API for the caller's own standing approvals. Only for signed-in users: API keys have no
//! scope for it.

use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use chat::Caller;
use wire::api::StandingApprovals;

/// `GET /api/grants`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<StandingApprovals>, HttpError> {
    Ok(Json(state.composition.chat.standing_approvals(&caller).await?))
}

/// `DELETE /api/grants/{id}`
pub(crate) async fn revoke(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    state.composition.chat.revoke(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
