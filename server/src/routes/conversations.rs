//! The caller's own conversations, for programs.

use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use chat::{Caller, ConversationUsage};
use serde::Deserialize;
use wire::api::{ConversationList, ConversationView};

/// Lines of a page when none are asked for.
const DEFAULT_LIMIT: u32 = 50;

/// Which page of the list.
#[derive(Deserialize)]
pub(crate) struct Page {
    limit: Option<u32>,
    cursor: Option<String>,
}

/// `GET /api/conversations`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<Page>,
) -> Result<Json<ConversationList>, HttpError> {
    let limit = page.limit.unwrap_or(DEFAULT_LIMIT);
    Ok(Json(state.composition.chat.conversations(&caller, limit, page.cursor.as_deref()).await?))
}

/// `GET /api/conversations/{id}`
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<ConversationView>, HttpError> {
    Ok(Json(state.composition.chat.conversation(&caller, &id).await?))
}

/// `GET /api/conversations/{id}/usage`
pub(crate) async fn usage(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<ConversationUsage>, HttpError> {
    Ok(Json(state.composition.chat.usage(&caller, &id).await?))
}

/// What can be changed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    title: String,
}

/// `PATCH /api/conversations/{id}` with `{title}`
pub(crate) async fn rename(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    change: Result<Json<Change>, JsonRejection>,
) -> Result<StatusCode, HttpError> {
    let Json(change) = change.map_err(|rejection| super::agent::unreadable(&rejection))?;
    state.composition.chat.rename(&caller, &id, &change.title).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/conversations/{id}`
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    state.composition.chat.delete(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
