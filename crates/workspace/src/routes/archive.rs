//! Downloads all files as a ZIP archive.

use super::{RouteState, pieces};
use crate::path::WorkspacePath;
use crate::tree::Origin;
use ::store::{Store, StoreError};
use axum::Extension;
use axum::extract::{Path, State};
use chat::Caller;
use futures::{Stream, StreamExt};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io;
use std::pin::pin;
use web::{ArchivePart, FileContent, HttpError, SentQuery, archive_download, valid_query};
use wire::UserError;

/// The files of an archive.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ArchiveQuery {
    /// The folder, for example `/outputs`; all files without it.
    #[serde(default = "everything")]
    folder: String,
}

fn everything() -> String {
    "/".to_owned()
}

/// `GET /api/conversations/{id}/files/archive`
pub(super) async fn download(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<ArchiveQuery>,
) -> Result<FileContent, HttpError> {
    let (workspace, _) = state.open(&caller, &id).await?;
    let ArchiveQuery { folder } = valid_query(query)?;
    let refused = |reason| UserError::invalid("/folder", format!("This folder is refused: {reason}."));
    let folder = WorkspacePath::parse(&folder).map_err(refused)?;
    let tree = workspace.tree().await?;
    let meant = tree.files().filter(|(path, entry)| path.is_below(folder.as_str()) && entry.origin != Origin::TextOf);
    let files: Vec<_> = meant.map(|(path, entry)| (path.as_str()[1..].to_owned(), entry.file_id.clone())).collect();
    if files.is_empty() {
        return Err(UserError::not_found().into());
    }
    let parts = parts(workspace.store().clone(), caller.user_id.clone(), files);
    Ok(archive_download(&caller.user_id, "files.zip", parts)?)
}

/// Returns the parts of an archive with these files, whose contents are read piece by piece.
fn parts(
    store: Store,
    owner: String,
    files: Vec<(String, String)>,
) -> impl Stream<Item = Result<ArchivePart, io::Error>> + Send {
    async_stream::try_stream! {
        for (path, file_id) in files {
            yield ArchivePart::File(path);
            let mut content = pin!(pieces(store.clone(), owner.clone(), file_id));
            while let Some(piece) = content.next().await {
                let piece = piece.map_err(|error: StoreError| io::Error::other(error))?;
                yield ArchivePart::Content(piece);
            }
        }
    }
}
