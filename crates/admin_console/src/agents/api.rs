//! The API for agents. The list is in `list`.

use super::AgentDetail;
use crate::agents;
use crate::state::ConsoleState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use web::admin::Admin;
use web::{HttpError, json_error};

pub(super) fn routes() -> Router<ConsoleState> {
    Router::new()
        .route("/api/admin/agents/{id}", get(show))
        .route("/api/admin/agents/{id}/ask", post(ask))
        .route("/api/admin/agents/{id}/tools", get(tools))
}

/// `GET /api/admin/agents/{id}`
async fn show(
    _: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<AgentDetail>, HttpError> {
    Ok(Json(agents::agent_detail(&state, &id).await?))
}

/// The body with the question for an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionBody {
    text: String,
}

/// `POST /api/admin/agents/{id}/ask`
async fn ask(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: Result<Json<QuestionBody>, JsonRejection>,
) -> Result<Json<Value>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let id = agents::ask(&state, &admin, &id, &sent.text).await?;
    let view = state.chat.conversation(&admin.caller, &id).await?;
    Ok(Json(json!({ "conversationId": id, "view": view })))
}

/// `GET /api/admin/agents/{id}/tools`
async fn tools(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let (items, problems) = agents::tools(&state, &admin, &id).await?;
    Ok(Json(json!({ "items": items, "problems": problems })))
}
