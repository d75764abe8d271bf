//! The API for custom agents. The list is in `list`.

use super::{CustomAgentBody, CustomAgentDetail};
use crate::console;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use capability::Context;
use serde_json::{Value, json};
use web::admin::Admin;
use web::{HttpError, json_error};

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route("/api/admin/custom-agents", post(add))
        .route("/api/admin/custom-agents/{id}", get(show).put(change).delete(remove))
}

/// `POST /api/admin/custom-agents`
async fn add(
    admin: Admin,
    State(state): State<Context>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    Ok((StatusCode::CREATED, Json(json!({ "id": console::save(&state, &admin, None, sent).await? }))))
}

/// `GET /api/admin/custom-agents/{id}`
async fn show(
    _: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    Ok(Json(console::custom_agent_detail(&state, &id).await?))
}

/// `PUT /api/admin/custom-agents/{id}`
async fn change(
    admin: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    console::save(&state, &admin, Some(&id), sent).await?;
    Ok(Json(console::custom_agent_detail(&state, &id).await?))
}

/// `DELETE /api/admin/custom-agents/{id}`
async fn remove(admin: Admin, State(state): State<Context>, Path(id): Path<String>) -> Result<StatusCode, HttpError> {
    console::delete(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
