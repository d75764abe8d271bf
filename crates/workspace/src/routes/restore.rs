//! Restores an old version of a file, as its newest one.

use super::{RouteState, WorkspaceFile, user_error};
use crate::path::WorkspacePath;
use crate::store::{self, Version};
use crate::workspace::{Change, Workspace, WorkspaceError};
use auth::audit_row;
use axum::Extension;
use axum::extract::{Path, State};
use chat::Caller;
use serde_json::json;
use web::HttpError;
use web::openapi::Created;
use wire::{ErrorCode, UserError};

/// The name of the action in the audit log. Names of agents' tools contain no colon.
const RESTORE: &str = "workspace:restore";

/// `POST /api/conversations/{id}/files/{version}/restore`
pub(super) async fn restore(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path((id, version)): Path<(String, String)>,
) -> Result<Created<WorkspaceFile>, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let old = store::version_of(workspace.store(), &workspace.of, version.parse().unwrap_or_default()).await?;
    let old = old.ok_or_else(UserError::not_found)?;
    let number = restore_version(&workspace, &old).await?;
    // The agent may have written another one by now.
    let new = store::version_of(workspace.store(), &workspace.of, number).await?.ok_or_else(UserError::not_found)?;
    Ok(Created(WorkspaceFile::new(&id, &new.path, &new.entry)))
}

/// Writes the content of a version as the next one of its file, with a row of the audit log in the same
/// transaction, and returns its number. A change by the agent in the meantime is not overwritten: the request fails then.
async fn restore_version(workspace: &Workspace, old: &Version) -> Result<i64, HttpError> {
    let tree = workspace.tree().await?;
    let newest = tree.get(&old.path).and_then(|entry| entry.version()).ok_or_else(UserError::not_found)?;
    if newest == old.version {
        return Err(UserError::new(ErrorCode::Conflict, "This is the newest version of the file.").into());
    }
    let refused = |error| restore_error(error, &old.path);
    let content = workspace.read(&old.path, &old.entry).await.map_err(refused)?;
    let change = Change { path: old.path.clone(), base: Some(newest), content: Some(content) };
    let about = json!({ "path": old.path.as_str(), "version": old.version, "replaced": newest });
    let row = audit_row(&workspace.of.owner, RESTORE, &workspace.of.id, about);
    let numbers = workspace.apply_with_audit(vec![change], vec![row]).await.map_err(refused)?;
    Ok(numbers.into_iter().next().flatten().ok_or_else(UserError::not_found)?)
}

/// Converts an error. A refusal is reported as a conflict with the file, not as an invalid request.
fn restore_error(error: WorkspaceError, path: &WorkspacePath) -> HttpError {
    match error {
        WorkspaceError::Refused(reason) => {
            UserError::new(ErrorCode::Conflict, format!("`{path}` is not restored: {reason}.")).into()
        }
        other => user_error(other, "/version"),
    }
}
