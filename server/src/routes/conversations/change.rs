//! The API for changes to a conversation that start no run: switching branches, deleting, rating
//! and copying messages.

use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};
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
    change: SentJson<MessageChange>,
) -> Result<Json<ChangeResult>, HttpError> {
    let change = valid_json(change)?;
    Ok(Json(state.composition.chat.revise(&caller, &id, change).await?))
}
