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
use wire::order::{ConversationChange, ListFilter};

/// Lines of a page when none are asked for.
const DEFAULT_LIMIT: u32 = 50;

/// Which list, and which page of it.
#[derive(Deserialize)]
pub(crate) struct Page {
    limit: Option<u32>,
    cursor: Option<String>,
    #[serde(default)]
    archived: bool,
    folder: Option<String>,
}

/// `GET /api/conversations?archived=true&folder=ID`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<Page>,
) -> Result<Json<ConversationList>, HttpError> {
    let limit = page.limit.unwrap_or(DEFAULT_LIMIT);
    let filter = ListFilter { archived: page.archived, folder_id: page.folder };
    Ok(Json(state.composition.chat.conversations(&caller, filter, limit, page.cursor.as_deref()).await?))
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

/// `PATCH /api/conversations/{id}` with what changes: `{title, pinned, archived, folderId, unread, deleted}`
pub(crate) async fn change(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    change: Result<Json<ConversationChange>, JsonRejection>,
) -> Result<StatusCode, HttpError> {
    let Json(change) = change.map_err(|rejection| super::agent::unreadable(&rejection))?;
    state.composition.chat.change(&caller, vec![id], change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/conversations/{id}`; for five minutes `PATCH` with `{deleted: false}` brings it back.
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    state.composition.chat.delete(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
