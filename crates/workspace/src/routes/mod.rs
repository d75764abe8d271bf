//! The routes with which pages and programs read and change the files of a conversation.

mod archive;
mod restore;
mod share;
mod upload;

use crate::capability::limits;
use crate::path::WorkspacePath;
use crate::section::WorkspaceKey;
use crate::store::{self, Conversation, Version};
use crate::tree::{FileEntry, Origin};
use crate::workspace::{Change, Workspace, WorkspaceError, Workspaces};
use ::store::Store;
use auth::password::KeyScope;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::NoContent;
use axum::routing::get;
use axum::{Extension, Json, Router};
use capability::{Context, CurrentConfig};
use chat::Caller;
use futures::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use web::frame::artifact_frame;
use web::openapi::{Access, ApiRouter, Tag};
use web::{FileContent, HttpError, SentFile, SentQuery, content_disposition, valid_query};
use wire::file::FILES;
use wire::{ErrorCode, UserError};

/// The group in the OpenAPI document.
const WORKSPACE: Tag = Tag {
    name: "workspace",
    description: "The files of the caller's conversations with agents that have a workspace. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// The state of the handlers.
#[derive(Clone)]
struct RouteState {
    all: Workspaces,
    current: Arc<dyn CurrentConfig>,
}

/// Returns the routes.
pub(crate) fn routes(all: Workspaces, context: &Context) -> ApiRouter {
    let state = RouteState { all, current: context.current.clone() };
    ApiRouter::new(&WORKSPACE)
        .get("/api/conversations/{id}/files", list, "List the files of a conversation")
        .delete("/api/conversations/{id}/files", delete, "Delete a file of a conversation, with all its versions")
        .get("/api/conversations/{id}/files/versions", versions, "List the versions of a file")
        .get(
            "/api/conversations/{id}/files/archive",
            archive::download,
            "Download the files of a conversation as a ZIP archive",
        )
        .get("/api/conversations/{id}/files/{version}", show, "Read a version of a file")
        .post(
            "/api/conversations/{id}/files/{version}/restore",
            restore::restore,
            "Restore a version of a file, as its newest one",
        )
        .get("/api/conversations/{id}/files/shares", share::list, "List the links to files of a conversation")
        .post(
            "/api/conversations/{id}/files/{version}/shares",
            share::share,
            "Create a link to a version of a file, which anybody who has it may read",
        )
        .delete("/api/artifact-shares/{id}", share::unshare, "Delete a link to a version of a file")
        .with_pages(Router::new().route("/api/artifacts/frame", get(async || artifact_frame())))
        .map(|router| router.with_state(state))
}

/// Returns the route with larger bodies, which bounds them itself.
pub(crate) fn upload_routes(all: Workspaces, context: &Context) -> ApiRouter {
    let state = RouteState { all, current: context.current.clone() };
    ApiRouter::new(&WORKSPACE)
        .post("/api/conversations/{id}/files", upload::upload, "Upload files to a conversation, all or none")
        .map(|router| router.with_state(state))
}

impl RouteState {
    /// Opens the workspace of a conversation of the caller.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    async fn open(&self, caller: &Caller, id: &str) -> Result<(Workspace, bool), HttpError> {
        let of = Conversation { owner: caller.user_id.clone(), id: id.to_owned() };
        let agent = store::agent_of(&self.all.store, &of).await?.ok_or_else(UserError::not_found)?;
        let config = self.current.config();
        let agent = config.agents.get(&agent);
        let has_workspace = agent.is_some_and(|agent| agent.section::<WorkspaceKey>().is_some());
        Ok((self.all.open(&caller.user_id, id, limits(&config, agent)), has_workspace))
    }
}

/// Converts an error for users. `field` is what is wrong with the request.
fn user_error(error: WorkspaceError, field: &str) -> HttpError {
    match error {
        WorkspaceError::Refused(reason) => UserError::invalid(field, format!("This is refused: {reason}.")).into(),
        WorkspaceError::Gone => UserError::not_found().into(),
        WorkspaceError::Failed(error) => error.into(),
    }
}

/// A file, or a version of one.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WorkspaceFile {
    /// The path, for example `/outputs/report.md`.
    path: String,
    /// The number of the version, which is unique in the conversation. Files that are attached to messages have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    /// The URL of the content. It always refers to this version.
    url: String,
    /// The media type that was detected from the content and the name.
    media_type: String,
    /// The size in bytes.
    size: u64,
    /// When it was written; Unix time, milliseconds.
    changed_at: i64,
}

impl WorkspaceFile {
    fn new(id: &str, path: &WorkspacePath, entry: &FileEntry) -> Self {
        let url = match entry.version() {
            Some(version) => format!("/api/conversations/{id}/files/{version}"),
            None => format!("{FILES}{}", entry.file_id),
        };
        Self {
            path: path.to_string(),
            version: entry.version(),
            url,
            media_type: entry.media_type.clone(),
            size: entry.size,
            changed_at: entry.changed_at,
        }
    }
}

/// Files, or versions of one.
#[derive(Serialize, JsonSchema)]
struct WorkspaceFiles {
    items: Vec<WorkspaceFile>,
}

/// The file that is meant.
#[derive(Deserialize, JsonSchema)]
struct PathQuery {
    /// Its path, for example `/outputs/report.md`.
    path: String,
}

fn file_path(query: SentQuery<PathQuery>) -> Result<WorkspacePath, HttpError> {
    let PathQuery { path } = valid_query(query)?;
    let refused = |reason| UserError::invalid("/path", format!("This path is refused: {reason}."));
    Ok(WorkspacePath::parse_file(&path).map_err(refused)?)
}

/// `GET /api/conversations/{id}/files`
async fn list(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<WorkspaceFiles>, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let tree = workspace.tree().await?;
    // The text of a document is for the agent; the user has the document.
    let files = tree.files().filter(|(_, entry)| entry.origin != Origin::TextOf);
    Ok(Json(WorkspaceFiles { items: files.map(|(path, entry)| WorkspaceFile::new(&id, path, entry)).collect() }))
}

/// `GET /api/conversations/{id}/files/versions?path=PATH`
async fn versions(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<PathQuery>,
) -> Result<Json<WorkspaceFiles>, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let path = file_path(query)?;
    let found = store::versions(workspace.store(), &workspace.of, &path).await?;
    let items = found.iter().map(|Version { path, entry, .. }| WorkspaceFile::new(&id, path, entry));
    Ok(Json(WorkspaceFiles { items: items.collect() }))
}

/// The query of a request for a version.
#[derive(Deserialize, JsonSchema)]
struct ShowQuery {
    /// Whether a browser saves the file instead of showing it.
    #[serde(default)]
    download: bool,
}

/// `GET /api/conversations/{id}/files/{version}`
async fn show(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path((id, version)): Path<(String, String)>,
    query: SentQuery<ShowQuery>,
    headers: HeaderMap,
) -> Result<FileContent, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let ShowQuery { download } = valid_query(query)?;
    let number = version.parse().unwrap_or_default();
    let found = store::version_of(workspace.store(), &workspace.of, number).await?;
    let Version { path, entry, .. } = found.ok_or_else(UserError::not_found)?;
    let how = if !download && is_shown(&entry.media_type) { "inline" } else { "attachment" };
    let sent = SentFile {
        tag: entry.file_id.clone(),
        content_type: content_type(&entry.media_type),
        disposition: content_disposition(how, path.name()),
        size: Some(entry.size),
    };
    let bytes = pieces(workspace.store().clone(), caller.user_id, entry.file_id);
    Ok(FileContent::new(&headers, sent, Body::from_stream(bytes)))
}

/// Returns whether a browser shows the type, as text or as a picture, when it is opened. The policy of the
/// response keeps it from running anything.
pub(crate) fn is_shown(media_type: &str) -> bool {
    wire::file::is_shown_inline(media_type)
        || matches!(media_type, "text/plain" | "text/markdown" | "text/csv" | "application/json" | "image/svg+xml")
}

pub(crate) fn content_type(media_type: &str) -> String {
    let is_text = media_type.starts_with("text/")
        || matches!(media_type, "application/json" | "application/yaml" | "image/svg+xml");
    if is_text { format!("{media_type}; charset=utf-8") } else { media_type.to_owned() }
}

/// Streams a content.
pub(crate) fn pieces(
    store: Store,
    owner: String,
    file_id: String,
) -> impl Stream<Item = Result<Bytes, ::store::StoreError>> + Send {
    async_stream::try_stream! {
        let mut no = 0;
        while let Some(piece) = store.file_piece(&owner, &file_id, no).await? {
            no += 1;
            yield piece;
        }
    }
}

/// `DELETE /api/conversations/{id}/files?path=PATH`
async fn delete(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<PathQuery>,
) -> Result<NoContent, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let path = file_path(query)?;
    let tree = workspace.tree().await?;
    let entry = tree.get(&path).ok_or_else(UserError::not_found)?;
    let Some(version) = entry.version() else {
        let message = "This file is attached to a message, and is deleted with its conversation.";
        return Err(UserError::new(ErrorCode::Conflict, message).into());
    };
    let change = Change { path, base: Some(version), content: None };
    workspace.apply(vec![change]).await.map_err(|error| user_error(error, "/path"))?;
    Ok(NoContent)
}
