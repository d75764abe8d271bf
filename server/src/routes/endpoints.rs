//! Endpoints of the config, for page buttons and other clients.

use super::tags::ENDPOINTS;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use serde_json::Value;
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&ENDPOINTS).post("/api/endpoints/{page}/{endpoint}", call, "Call an endpoint with a payload")
}

/// `POST /api/endpoints/{page}/{endpoint}` with a payload; returns the endpoint's result.
pub(crate) async fn call(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path((page_id, endpoint_id)): Path<(String, String)>,
    payload: SentJson<Value>,
) -> Result<Json<Value>, HttpError> {
    let payload = valid_json(payload)?;
    let named = (page_id.as_str(), endpoint_id.as_str());
    Ok(Json(state.composition.current.call_endpoint(&caller, named, payload).await?))
}
