//! Downloads all files as a ZIP archive, which is made while it is sent.

use super::{RouteState, pieces};
use crate::path::WorkspacePath;
use crate::tree::Origin;
use ::store::{Store, StoreError};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use chat::Caller;
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use web::{FileContent, HttpError, SentFile, content_disposition, valid_query};
use wire::UserError;
use zip::ZipWriter;
use zip::write::{SimpleFileOptions, StreamWriter};

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
    query: Result<Query<ArchiveQuery>, QueryRejection>,
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
    let sent = SentFile {
        tag: uuid::Uuid::now_v7().to_string(),
        content_type: "application/zip".to_owned(),
        disposition: content_disposition("attachment", "files.zip"),
        size: None,
    };
    let bytes = archive(workspace.store().clone(), caller.user_id, files);
    Ok(FileContent::new(&HeaderMap::new(), sent, Body::from_stream(bytes)))
}

/// The packed bytes that were not sent yet.
#[derive(Clone, Default)]
struct Packed(Arc<Mutex<Vec<u8>>>);

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Packed {
    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock()).into()
    }
}

type Writer = ZipWriter<StreamWriter<Packed>>;

/// Packs files piece by piece. Only one piece is in memory, and it is packed on a thread for blocking work.
fn archive(
    store: Store,
    owner: String,
    files: Vec<(String, String)>,
) -> impl Stream<Item = Result<Bytes, io::Error>> + Send {
    async_stream::try_stream! {
        let packed = Packed::default();
        let mut writer: Writer = ZipWriter::new_stream(packed.clone());
        for (name, file_id) in files {
            writer.start_file(name, SimpleFileOptions::default()).map_err(io::Error::other)?;
            let mut content = pin!(pieces(store.clone(), owner.clone(), file_id));
            while let Some(piece) = content.next().await {
                let piece = piece.map_err(|error: StoreError| io::Error::other(error))?;
                writer = tokio::task::spawn_blocking(move || writer.write_all(&piece).map(|()| writer)).await.map_err(io::Error::other)??;
                yield packed.take();
            }
        }
        writer.finish().map_err(io::Error::other)?;
        yield packed.take();
    }
}
