//! Agents asked by programs.

use super::agent::unreadable;
use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use chat::Caller;
use serde::Deserialize;
use wire::invoke::{Invocation, InvocationList, InvokeRequest};

/// Rows of the list when no number is asked for.
const DEFAULT_LIMIT: u32 = 50;

/// `POST /api/runs/invoke`
pub(crate) async fn invoke(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: Result<Json<InvokeRequest>, JsonRejection>,
) -> Result<Json<Invocation>, HttpError> {
    let Json(request) = request.map_err(|rejection| unreadable(&rejection))?;
    Ok(Json(state.composition.chat.invoke(&caller, request).await?))
}

/// How many.
#[derive(Deserialize)]
pub(crate) struct Page {
    limit: Option<u32>,
}

/// `GET /api/runs`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<Page>,
) -> Result<Json<InvocationList>, HttpError> {
    Ok(Json(state.composition.chat.invocations(&caller, page.limit.unwrap_or(DEFAULT_LIMIT)).await?))
}

/// `GET /api/runs/{id}`
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Invocation>, HttpError> {
    Ok(Json(state.composition.chat.invocation(&caller, &id).await?))
}
