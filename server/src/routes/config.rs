//! What an open page may know of the config behind it.

use crate::compose::Status;
use crate::router::AppState;
use axum::Json;
use axum::extract::State;

/// `GET /api/config/status`: `{"version"}`, and `"problems"` while the text on disk is wrong. Only the developer on this machine
/// can ask: auth mode `local` listens on loopback only.
pub(crate) async fn status(State(state): State<AppState>) -> Json<Status> {
    Json(state.composition.current.status())
}
