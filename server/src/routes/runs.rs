//! The API for invocations: single questions to agents.

use super::tags::AGENTS;
use crate::router::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use web::openapi::ApiRouter;
use web::{HttpError, json_error};
use wire::invoke::{Invocation, InvocationList, InvokeRequest};

/// The default number of items in a list.
const DEFAULT_LIMIT: u32 = 50;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&AGENTS)
        .post(
            "/api/runs/invoke",
            invoke,
            "Invoke an agent with a single question, without tools unless the request names them",
        )
        .get("/api/runs", list, "List invocations")
        .get("/api/runs/{id}", show, "Get an invocation")
}

/// `POST /api/runs/invoke`
pub(crate) async fn invoke(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: Result<Json<InvokeRequest>, JsonRejection>,
) -> Result<Json<Invocation>, HttpError> {
    let Json(request) = request.map_err(|rejection| json_error(&rejection))?;
    Ok(Json(state.composition.chat.invoke(&caller, request).await?))
}

/// The query of the list.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RunListQuery {
    /// The maximum number of items.
    limit: Option<u32>,
}

/// `GET /api/runs`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<RunListQuery>,
) -> Result<Json<InvocationList>, HttpError> {
    Ok(Json(state.composition.chat.invocations(&caller, page.limit.unwrap_or(DEFAULT_LIMIT)).await?))
}

/// `GET /api/runs/{id}`
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Invocation>, HttpError> {
    Ok(Json(state.composition.chat.invocation(&caller, &id).await?))
}
