//! The routes with which users make agents.

use super::service;
use super::store::AgentSharing;
use super::views::{OwnAgentBody, OwnAgentDetail, OwnAgents};
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, valid_json};

/// The group in the OpenAPI document.
const OWN_AGENTS: Tag = Tag {
    name: "own agents",
    description: "Agents that users make for themselves. Only for signed-in users, if the config has `customAgents.users`.",
    access: Access::Users { scope: None },
};

/// Returns the routes and the pages.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&OWN_AGENTS)
        .get(
            "/api/own-agents",
            list,
            "List the caller's agents, those shared with them, and what agents can be made of",
        )
        .post("/api/own-agents", add, "Create an agent")
        .get("/api/own-agents/{id}", show, "Get an agent of the caller with its versions")
        .put("/api/own-agents/{id}", change, "Change an agent")
        .delete("/api/own-agents/{id}", delete, "Delete an agent")
        .put("/api/own-agents/{id}/sharing", share, "Set the users with whom an agent is shared")
        .post(
            "/api/own-agents/{id}/versions/{version}/restore",
            restore,
            "Restore an earlier version as the newest one",
        )
        .with_pages(super::page::routes())
        .map(|router| router.with_state(context))
}

async fn list(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<OwnAgents>, HttpError> {
    Ok(Json(service::list(&state, &caller).await?))
}

async fn add(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    sent: SentJson<OwnAgentBody>,
) -> Result<Created<OwnAgentDetail>, HttpError> {
    let sent = valid_json(sent)?;
    let id = service::save(&state, &caller, None, sent).await?;
    Ok(Created(service::detail(&state, &caller, &id).await?))
}

async fn show(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<OwnAgentDetail>, HttpError> {
    Ok(Json(service::detail(&state, &caller, &id).await?))
}

async fn change(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<OwnAgentBody>,
) -> Result<Json<OwnAgentDetail>, HttpError> {
    let sent = valid_json(sent)?;
    service::save(&state, &caller, Some(&id), sent).await?;
    Ok(Json(service::detail(&state, &caller, &id).await?))
}

async fn delete(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    service::delete(&state, &caller, &id).await?;
    Ok(NoContent)
}

async fn share(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<AgentSharing>,
) -> Result<NoContent, HttpError> {
    let sharing = valid_json(sent)?;
    service::share(&state, &caller, &id, sharing).await?;
    Ok(NoContent)
}

async fn restore(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path((id, version)): Path<(String, String)>,
) -> Result<Json<OwnAgentDetail>, HttpError> {
    let version = version.parse().map_err(|_| wire::UserError::not_found())?;
    service::restore(&state, &caller, &id, version).await?;
    Ok(Json(service::detail(&state, &caller, &id).await?))
}
