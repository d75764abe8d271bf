//! The API for the caller's own conversations.

pub(crate) mod change;
mod folder_export;
pub(crate) mod folders;
pub(crate) mod hand_over;
pub(crate) mod search;
pub(crate) mod sharing;

use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::{Path, Query, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::{Caller, ConversationUsage};
use schemars::JsonSchema;
use serde::Deserialize;
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};
use wire::api::{ConversationList, ConversationView};
use wire::organize::{ConversationChange, ListFilter};

/// The default page size.
const DEFAULT_LIMIT: u32 = 50;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&CONVERSATIONS)
        .get("/api/conversations", list, "List conversations")
        .get("/api/conversations/{id}", show, "Get a conversation with its messages")
        .patch("/api/conversations/{id}", change, "Change the title, folder, pin or archive state of a conversation")
        .delete("/api/conversations/{id}", delete, "Delete a conversation; it can be restored for five minutes")
        .get("/api/conversations/{id}/usage", usage, "Get the usage of a conversation")
}

/// The filter and the page of a conversation list.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ConversationListQuery {
    /// Items per page.
    limit: Option<u32>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// `true` for archived conversations.
    #[serde(default)]
    archived: bool,
    /// Only conversations in this folder.
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
    change: SentJson<ConversationChange>,
) -> Result<NoContent, HttpError> {
    let change = valid_json(change)?;
    state.composition.chat.change(&caller, vec![id], change).await?;
    Ok(NoContent)
}

/// `DELETE /api/conversations/{id}`; for five minutes `PATCH` with `{deleted: false}` restores it.
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    state.composition.chat.delete(&caller, &id).await?;
    Ok(NoContent)
}
