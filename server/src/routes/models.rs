//! The models that a caller can choose.

use super::tags::AGENTS;
use crate::compose::{ListedModel, ModelList};
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use web::HttpError;
use web::openapi::ApiRouter;
use wire::UserError;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&AGENTS).get("/api/models", list, "List the models of the agents that the caller may use").get(
        "/api/models/{name}",
        show,
        "Get one of these models, by its id or by its provider's name for it; a `/` in it is sent as `%2F`",
    )
}

/// `GET /api/models`
pub(crate) async fn list(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Json<ModelList> {
    Json(state.composition.current.models(&caller))
}

/// `GET /api/models/{name}`
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Json<ListedModel>, HttpError> {
    let found = state.composition.current.models(&caller).into_named(&name);
    Ok(Json(found.ok_or_else(UserError::not_found)?))
}
