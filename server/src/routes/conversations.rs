//! The API for the caller's own conversations.

use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use chat::{Caller, ConversationUsage};
use serde::Deserialize;
use wire::api::{ConversationList, ConversationView};
use wire::organize::{ConversationChange, ListFilter};

/// The default page size.
const DEFAULT_LIMIT: u32 = 50;

/// The filter and the page of a conversation list.
#[derive(Deserialize)]
pub(crate) struct ConversationListQuery {
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
    Query(page): Query<ConversationListQuery>,
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

/// `PATCH /api/conversations/{id}` with the fields to change: `{title, pinned, archived, folderId,
/// unread, deleted}`
pub(crate) async fn change(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    change: Result<Json<ConversationChange>, JsonRejection>,
) -> Result<StatusCode, HttpError> {
    let Json(change) = change.map_err(|rejection| super::agent::json_error(&rejection))?;
    state.composition.chat.change(&caller, vec![id], change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/conversations/{id}`; for five minutes `PATCH` with `{deleted: false}` restores it.
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    state.composition.chat.delete(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
