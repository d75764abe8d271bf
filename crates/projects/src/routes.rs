//! The routes for programs.

use crate::page;
use crate::service::{self, Service};
use crate::views::{
    BeginBody, ListQuery, MemberBody, ProjectBody, ProjectConversation, ProjectItem, ProjectList, ProjectView,
    RoleBody, sorted,
};
use auth::password::KeyScope;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, NoContent, Response};
use axum::{Extension, Json};
use chat::Caller;
use serde_json::json;
use web::openapi::{Access, ApiRouter, Created, Description, RouteOutput, Tag};
use web::times::now_millis;
use web::{HttpError, SentJson, SentQuery, conversation_file_name, download, signed_in, valid_json, valid_query};

/// The group in the OpenAPI document.
const PROJECTS: Tag = Tag {
    name: "projects",
    description: "Projects of the caller, and those that others share with them. 404 without the section `projects` of the config. Only for signed-in users. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// The media type of an export.
const JSON_LINES: &str = "application/jsonl";

/// Returns the routes and the pages.
pub(crate) fn routes(service: Service) -> ApiRouter {
    ApiRouter::new(&PROJECTS)
        .get("/api/projects", list, "List the caller's projects")
        .post("/api/projects", create, "Create a project, or turn a folder into one")
        .get("/api/projects/{id}", show, "Get a project with its members")
        .put("/api/projects/{id}", change, "Change the settings of a project")
        .delete("/api/projects/{id}", delete, "Delete a project with its files; its conversations are kept")
        .post("/api/projects/{id}/members", add_member, "Add a user to a project")
        .put("/api/projects/{id}/members/{member}", change_member, "Change the role of a user in a project")
        .delete("/api/projects/{id}/members/{member}", remove_member, "Remove a user from a project, or leave it")
        .post("/api/projects/{id}/conversations", begin, "Begin a conversation in a project")
        .get("/api/projects/{id}/export", export, "Download a project with the caller's conversations")
        .with_pages(page::routes())
        .map(|router| router.with_state(service))
}

/// Returns the form with files, whose bodies are larger than others.
pub(crate) fn upload_routes(service: Service) -> ApiRouter {
    ApiRouter::new(&PROJECTS).with_pages(page::upload_routes()).map(|router| router.with_state(service))
}

async fn list(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    query: SentQuery<ListQuery>,
) -> Result<Json<ProjectList>, HttpError> {
    let ListQuery { sort } = valid_query(query)?;
    let projects = sorted(service.list(&caller).await?, sort);
    Ok(Json(ProjectList { items: projects.into_iter().map(ProjectItem::from).collect() }))
}

async fn create(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    sent: SentJson<ProjectBody>,
) -> Result<Created<ProjectView>, HttpError> {
    service.user(&caller)?;
    let sent = valid_json(sent)?;
    let id = service.create(&caller, sent).await?;
    Ok(Created(service.view(&caller, &id).await?))
}

async fn show(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<ProjectView>, HttpError> {
    Ok(Json(service.view(&caller, &id).await?))
}

async fn change(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<ProjectBody>,
) -> Result<Json<ProjectView>, HttpError> {
    service.project(&caller, &id).await?;
    let sent = valid_json(sent)?;
    service.save(&caller, &id, sent).await?;
    Ok(Json(service.view(&caller, &id).await?))
}

async fn delete(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    service.delete(&caller, &id).await?;
    Ok(NoContent)
}

async fn add_member(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<MemberBody>,
) -> Result<Created<ProjectView>, HttpError> {
    service.project(&caller, &id).await?;
    let MemberBody { name, role } = valid_json(sent)?;
    service::add_member(&service, &caller, &id, &name, role).await?;
    Ok(Created(service.view(&caller, &id).await?))
}

async fn change_member(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path((id, member)): Path<(String, String)>,
    sent: SentJson<RoleBody>,
) -> Result<Json<ProjectView>, HttpError> {
    service.project(&caller, &id).await?;
    let RoleBody { role } = valid_json(sent)?;
    service::change_role(&service, &caller, &id, &member, role).await?;
    Ok(Json(service.view(&caller, &id).await?))
}

async fn remove_member(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path((id, member)): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    service::remove_member(&service, &caller, &id, &member).await?;
    Ok(NoContent)
}

async fn begin(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<BeginBody>,
) -> Result<Created<ProjectConversation>, HttpError> {
    service.project(&caller, &id).await?;
    let BeginBody { agent_id } = valid_json(sent)?;
    let begun = service::begin(&service, &caller, &id, agent_id.as_deref()).await?;
    Ok(Created(begun.into()))
}

/// A project as a file.
struct Export {
    name: String,
    lines: Body,
}

impl IntoResponse for Export {
    fn into_response(self) -> Response {
        download(JSON_LINES, &conversation_file_name(&self.name, now_millis(), "jsonl"), self.lines)
    }
}

impl RouteOutput for Export {
    fn describe(description: &mut Description<'_>) {
        let about = "Lines of JSON: the settings of the project, then each conversation of the caller, as `GET /api/conversations/{id}/export?format=json` returns it.";
        description.response(200, JSON_LINES, &json!({ "type": "string", "description": about }));
    }
}

async fn export(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Export, HttpError> {
    signed_in(&caller)?;
    let (name, lines) = service::export(&service, &caller, &id).await?;
    Ok(Export { name, lines })
}
