//! The API for the caller's own standing approvals. Only for signed-in users: API keys have no
//! scope for it.

use super::tags::APPROVALS;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use web::HttpError;
use web::openapi::ApiRouter;
use wire::api::StandingApprovals;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&APPROVALS).get("/api/grants", list, "List the caller's standing approvals").delete(
        "/api/grants/{id}",
        revoke,
        "Revoke a standing approval",
    )
}

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
) -> Result<NoContent, HttpError> {
    state.composition.chat.revoke(&caller, &id).await?;
    Ok(NoContent)
}
