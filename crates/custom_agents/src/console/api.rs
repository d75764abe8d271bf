//! The API for custom agents. The list is in `list`.

use super::{CustomAgentBody, CustomAgentDetail};
use crate::console;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use capability::Context;
use schemars::JsonSchema;
use serde::Serialize;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::{ApiRouter, Created};
use web::{HttpError, SentJson, valid_json};

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/admin/custom-agents", add, "Create a custom agent")
        .get("/api/admin/custom-agents/{id}", show, "Get a custom agent with its versions")
        .put("/api/admin/custom-agents/{id}", change, "Change a custom agent")
        .delete("/api/admin/custom-agents/{id}", remove, "Delete a custom agent")
}

/// A new custom agent.
#[derive(Serialize, JsonSchema)]
struct CreatedAgent {
    /// Its id.
    id: String,
}

/// `POST /api/admin/custom-agents`
async fn add(
    admin: Admin,
    State(state): State<Context>,
    sent: SentJson<CustomAgentBody>,
) -> Result<Created<CreatedAgent>, HttpError> {
    let sent = valid_json(sent)?;
    Ok(Created(CreatedAgent { id: console::save(&state, &admin, None, sent).await? }))
}

/// `GET /api/admin/custom-agents/{id}`
async fn show(
    _: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    Ok(Json(console::custom_agent_detail(&state, &id).await?))
}

/// `PUT /api/admin/custom-agents/{id}`
async fn change(
    admin: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
    sent: SentJson<CustomAgentBody>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    let sent = valid_json(sent)?;
    console::save(&state, &admin, Some(&id), sent).await?;
    Ok(Json(console::custom_agent_detail(&state, &id).await?))
}

/// `DELETE /api/admin/custom-agents/{id}`
async fn remove(admin: Admin, State(state): State<Context>, Path(id): Path<String>) -> Result<NoContent, HttpError> {
    console::delete(&state, &admin, &id).await?;
    Ok(NoContent)
}
