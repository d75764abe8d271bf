//! The routes for programs and the composer.

use crate::page;
use crate::service;
use crate::views::{PromptBody, PromptDetail, PromptExport, PromptItems};
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use web::openapi::{Access, ApiRouter, Created, JsonFile, Tag};
use web::{HttpError, SentJson, signed_in, valid_json};

/// The group in the OpenAPI document.
const PROMPTS: Tag = Tag {
    name: "prompts",
    description: "Prompts of the caller, and those that are shared with them. 404 without the section `prompts` of the config. Visitors see shared ones only. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes and the pages.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&PROMPTS)
        .get("/api/prompts", list, "List the caller's prompts and those that are shared with them")
        .post("/api/prompts", add, "Add a prompt of the caller")
        .get("/api/prompts/export", export, "Download the caller's prompts")
        .get("/api/prompts/{id}", show, "Get a prompt with its variables")
        .put("/api/prompts/{id}", change, "Change a prompt of the caller")
        .delete("/api/prompts/{id}", delete, "Delete a prompt of the caller")
        .with_pages(page::routes())
        .map(|router| router.with_state(context))
}

async fn list(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<PromptItems>, HttpError> {
    Ok(Json(service::list(&context, &caller).await?))
}

async fn add(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent: SentJson<PromptBody>,
) -> Result<Created<PromptDetail>, HttpError> {
    signed_in(&caller)?;
    let sent = valid_json(sent)?;
    let id = service::save_own(&context, &caller, None, sent).await?;
    Ok(Created(service::own(&context, &caller, &id).await?))
}

async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<PromptDetail>, HttpError> {
    Ok(Json(service::detail(&context, &caller, &id).await?))
}

async fn change(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<PromptBody>,
) -> Result<Json<PromptDetail>, HttpError> {
    signed_in(&caller)?;
    let sent = valid_json(sent)?;
    service::save_own(&context, &caller, Some(&id), sent).await?;
    Ok(Json(service::own(&context, &caller, &id).await?))
}

async fn delete(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    service::delete_own(&context, &caller, &id).await?;
    Ok(NoContent)
}

async fn export(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
) -> Result<JsonFile<PromptExport>, HttpError> {
    Ok(JsonFile("prompts.json", service::export(&context, &caller).await?))
}
