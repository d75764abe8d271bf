//! Changes to a conversation that ask nothing of the agent, for programs.

use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use wire::change::{Change, Changed};

/// `POST /api/conversations/{id}/change`
pub(crate) async fn change(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    change: Result<Json<Change>, JsonRejection>,
) -> Result<Json<Changed>, HttpError> {
    let Json(change) = change.map_err(|rejection| super::agent::unreadable(&rejection))?;
    Ok(Json(state.composition.chat.revise(&caller, &id, change).await?))
}
