//! The API for changes to a conversation that start no run: switching branches, deleting, rating
//! and copying messages.

use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use web::openapi::ApiRouter;
use web::{HttpError, json_error};
use wire::change::{ChangeResult, MessageChange};

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&CONVERSATIONS).post(
        "/api/conversations/{id}/change",
        change,
        "Change a message of a conversation: switch its branch, delete, restore, rate or copy",
    )
}

/// `POST /api/conversations/{id}/change`
pub(crate) async fn change(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    change: Result<Json<MessageChange>, JsonRejection>,
) -> Result<Json<ChangeResult>, HttpError> {
    let Json(change) = change.map_err(|rejection| json_error(&rejection))?;
    Ok(Json(state.composition.chat.revise(&caller, &id, change).await?))
}
