//! What an open page may know of the config behind it.

use crate::compose::Status;
use crate::router::AppState;
use axum::extract::State;
use axum::{Extension, Json};
use chat::Caller;
use config::OWNER_ROLES;

/// `GET /api/config/status`: `{"version"}`, and for administrators `"problems"` while the text on disk is wrong; they quote it.
pub(crate) async fn status(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Json<Status> {
    let is_admin = caller.is_authenticated && caller.roles.iter().any(|role| OWNER_ROLES.contains(&role.as_str()));
    Json(state.composition.current.status(is_admin))
}
