//! Links to versions of files, which anybody with the link may read.

use super::RouteState;
use crate::store::{self, NewShare, ShareOutcome};
use ::store::{AuditEntry, MAX_SHARES};
use auth::audit_row;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use web::HttpError;
use web::openapi::Created;
use web::times::now_millis;
use wire::UserError;

/// The names of the actions in the audit log. Names of agents' tools contain no colon.
const SHARE: &str = "workspace:share";
const UNSHARE: &str = "workspace:unshare";

/// A link to a version of a file, which anybody who has it may read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactShare {
    /// The secret id of the link.
    id: String,
    /// The path of the file, for example `/outputs/report.md`.
    path: String,
    /// The number of the version.
    version: i64,
    /// The page, which anybody may open.
    url: String,
    /// When the link was made; Unix time, milliseconds.
    created_at: i64,
}

impl From<NewShare> for ArtifactShare {
    fn from(NewShare { id, path, version, created_at }: NewShare) -> Self {
        Self { url: format!("/shared/files/{id}"), id, path, version, created_at }
    }
}

/// The links to files of a conversation, the newest first.
#[derive(Serialize, JsonSchema)]
pub(super) struct ArtifactShares {
    items: Vec<ArtifactShare>,
}

/// `GET /api/conversations/{id}/files/shares`
pub(super) async fn list(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<ArtifactShares>, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let links = store::shares(workspace.store(), &workspace.of).await?;
    Ok(Json(ArtifactShares { items: links.into_iter().map(ArtifactShare::from).collect() }))
}

/// `POST /api/conversations/{id}/files/{version}/shares`
pub(super) async fn share(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path((id, version)): Path<(String, String)>,
) -> Result<Created<ArtifactShare>, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let found = store::version_of(workspace.store(), &workspace.of, version.parse().unwrap_or_default()).await?;
    let found = found.ok_or_else(UserError::not_found)?;
    let new = NewShare {
        // Random, so that it cannot be guessed.
        id: uuid::Uuid::new_v4().simple().to_string(),
        version: found.version,
        path: found.path.to_string(),
        created_at: now_millis(),
    };
    let row = audit(SHARE, &caller.user_id, &id, &new.path, new.version);
    match store::share(workspace.store(), &workspace.of, new.clone(), caller.name, row).await? {
        ShareOutcome::Stored => Ok(Created(new.into())),
        ShareOutcome::Gone => Err(UserError::not_found().into()),
        ShareOutcome::TooMany => {
            let message = format!(
                "The files of a conversation have at most {MAX_SHARES} links. Revoke one that you no longer need."
            );
            Err(UserError::invalid("/", message).into())
        }
    }
}

/// `DELETE /api/artifact-shares/{id}`
pub(super) async fn unshare(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    let row = |owner: &str, conversation: &str, path: &str, version| audit(UNSHARE, owner, conversation, path, version);
    let is_gone = store::unshare(&state.all.store, &caller.user_id, &id, row).await?;
    if is_gone { Ok(NoContent) } else { Err(UserError::not_found().into()) }
}

/// A row of the audit log, without the secret of the link.
fn audit(action: &str, owner: &str, conversation: &str, path: &str, version: i64) -> AuditEntry {
    audit_row(owner, action, conversation, json!({ "path": path, "version": version }))
}
