//! Endpoints for page buttons and other clients.

use super::agent::unreadable;
use crate::error::HttpError;
use crate::router::AppState;
use app::context::PageSource as _;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use serde_json::Value;
use wire::UserError;

/// `POST /api/endpoints/{page}/{endpoint}` with a payload; the endpoint's result.
pub(crate) async fn call(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path((page_id, endpoint_id)): Path<(String, String)>,
    payload: Result<Json<Value>, JsonRejection>,
) -> Result<Json<Value>, HttpError> {
    let Json(payload) = payload.map_err(|rejection| unreadable(&rejection))?;
    if state.composition.current.page(&page_id).is_none() {
        return Err(UserError::not_found().into());
    }
    Ok(Json(state.composition.call_endpoint(&caller, &endpoint_id, payload).await?))
}
