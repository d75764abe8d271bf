//! Uploads several files in one request.

use super::{RouteState, WorkspaceFile, WorkspaceFiles, user_error};
use crate::path::{UPLOADS, WorkspacePath};
use crate::store::Link;
use crate::workspace::{UploadError, Workspace, WorkspaceError};
use axum::Extension;
use axum::extract::multipart::MultipartRejection;
use axum::extract::{FromRequest, Multipart, Path, Request, State};
use chat::Caller;
use serde_json::json;
use web::openapi::{Created, Description, RouteInput};
use web::{HttpError, read_rest};
use wire::{ErrorCode, UserError};

/// The most files of a request.
const MAX_FILES: usize = 50;

/// A body of files.
pub(super) struct Files(Multipart);

impl<S: Send + Sync> FromRequest<S> for Files {
    type Rejection = MultipartRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, MultipartRejection> {
        Multipart::from_request(request, state).await.map(Self)
    }
}

impl RouteInput for Files {
    fn describe(description: &mut Description<'_>) {
        let file = json!({ "type": "string", "format": "binary" });
        let about = "The files. They are stored in `/uploads` under their names; one with the name of a stored file becomes its next version.";
        let properties = json!({ "file": { "type": "array", "items": file, "description": about } });
        let schema = json!({ "type": "object", "properties": properties, "required": ["file"] });
        description.body("multipart/form-data", &schema, true);
    }
}

/// `POST /api/conversations/{id}/files`
pub(super) async fn upload(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    files: Result<Files, MultipartRejection>,
) -> Result<Created<WorkspaceFiles>, HttpError> {
    // Rights are checked before the body, so that users without them learn nothing about what is accepted.
    let (workspace, has_workspace) = state.open(&caller, &id).await?;
    if !has_workspace {
        return Err(UserError::new(ErrorCode::Conflict, "The agent of this conversation has no workspace.").into());
    }
    let Files(mut body) = files.map_err(|_| HttpError::malformed("The request must be `multipart/form-data`."))?;
    let mut links = Vec::new();
    let stored = match store_all(&workspace, &mut body, &mut links).await {
        Ok(()) => workspace.link(links.clone(), Vec::new()).await.map_err(|error| user_error(error, "/file")),
        Err(error) => {
            read_rest(&mut body).await;
            Err(error)
        }
    };
    if let Err(error) = stored {
        let ids = links.into_iter().filter_map(|link| Some(link.new?.file_id)).collect();
        workspace.discard(ids).await;
        return Err(error);
    }
    let tree = workspace.tree().await?;
    let items = links.iter().filter_map(|link| Some(WorkspaceFile::new(&id, &link.path, tree.get(&link.path)?)));
    Ok(Created(WorkspaceFiles { items: items.collect() }))
}

/// Stores the contents as they arrive. Nothing refers to them yet.
async fn store_all(workspace: &Workspace, body: &mut Multipart, links: &mut Vec<Link>) -> Result<(), HttpError> {
    let tree = workspace.tree().await?;
    while let Some(field) = body.next_field().await.map_err(|_| interrupted())? {
        if field.name() != Some("file") {
            return Err(UserError::invalid("/", "Only fields with the name `file` are accepted.").into());
        }
        if links.len() == MAX_FILES {
            return Err(UserError::invalid("/file", format!("A request has at most {MAX_FILES} files.")).into());
        }
        let path = path_of(field.file_name().unwrap_or_default())?;
        if links.iter().any(|link| link.path == path) {
            return Err(
                UserError::invalid("/file", format!("There are two files with the name `{}`.", path.name())).into()
            );
        }
        let known = tree.get(&path);
        if known.is_some_and(|known| known.version().is_none()) {
            let message = format!("A file with the name `{}` is attached to a message.", path.name());
            return Err(UserError::invalid("/file", message).into());
        }
        let base = known.and_then(|known| known.version());
        let new = workspace.upload(path.name(), field).await.map_err(upload_error)?;
        links.push(Link { path, base, new: Some(new) });
    }
    if links.is_empty() {
        return Err(UserError::invalid("/file", "The request has no file.").into());
    }
    Ok(())
}

/// Returns the path of an upload. A name with a folder is refused.
fn path_of(name: &str) -> Result<WorkspacePath, HttpError> {
    let refused = |reason: String| UserError::invalid("/file", format!("The name {name:?} is refused: {reason}."));
    if name.is_empty() || name.contains('/') {
        return Err(refused("a name has at least one character, and no `/`".to_owned()).into());
    }
    Ok(WorkspacePath::parse_file(&format!("{UPLOADS}/{name}")).map_err(refused)?)
}

fn upload_error(error: UploadError) -> HttpError {
    match error {
        UploadError::Workspace(WorkspaceError::Refused(reason)) => {
            UserError::new(ErrorCode::TooLarge, format!("This is refused: {reason}.")).into()
        }
        UploadError::Workspace(other) => user_error(other, "/file"),
        UploadError::Interrupted => interrupted(),
    }
}

fn interrupted() -> HttpError {
    HttpError::malformed("The body is not valid `multipart/form-data`, or the upload was interrupted.")
}
