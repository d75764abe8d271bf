//! The API for a shared prompt. The list is in `list`.

use crate::service;
use crate::views::{PromptDetail, SharedPromptBody};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use capability::Context;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::{ApiRouter, Created};
use web::{HttpError, SentJson, valid_json};

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/admin/prompts", add, "Share a prompt with users")
        .get("/api/admin/prompts/{id}", show, "Get a shared prompt")
        .put("/api/admin/prompts/{id}", change, "Change a shared prompt")
        .delete("/api/admin/prompts/{id}", delete, "Delete a shared prompt")
}

/// `POST /api/admin/prompts`
async fn add(
    admin: Admin,
    State(context): State<Context>,
    sent: SentJson<SharedPromptBody>,
) -> Result<Created<PromptDetail>, HttpError> {
    let sent = valid_json(sent)?;
    let id = service::save_shared(&context, &admin, None, sent).await?;
    Ok(Created(service::shared_detail(&context, &id).await?))
}

/// `GET /api/admin/prompts/{id}`
async fn show(
    _: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Json<PromptDetail>, HttpError> {
    Ok(Json(service::shared_detail(&context, &id).await?))
}

/// `PUT /api/admin/prompts/{id}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    sent: SentJson<SharedPromptBody>,
) -> Result<Json<PromptDetail>, HttpError> {
    let sent = valid_json(sent)?;
    service::save_shared(&context, &admin, Some(&id), sent).await?;
    Ok(Json(service::shared_detail(&context, &id).await?))
}

/// `DELETE /api/admin/prompts/{id}`
async fn delete(admin: Admin, State(context): State<Context>, Path(id): Path<String>) -> Result<NoContent, HttpError> {
    service::delete_shared(&context, &admin, &id).await?;
    Ok(NoContent)
}
