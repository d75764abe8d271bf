//! The models that a caller can choose.

use super::tags::AGENTS;
use crate::compose::ModelList;
use crate::router::AppState;
use axum::extract::State;
use axum::{Extension, Json};
use chat::Caller;
use web::openapi::ApiRouter;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&AGENTS).get("/api/models", list, "List the models of the agents that the caller may use")
}

/// `GET /api/models`
pub(crate) async fn list(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Json<ModelList> {
    Json(state.composition.current.models(&caller))
}
