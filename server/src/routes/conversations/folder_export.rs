//! A folder with its conversations as a ZIP archive, which is made while it is sent.

use crate::state::AppState;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use chat::{Caller, Chat};
use futures::{Stream, TryStreamExt};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;
use uuid::Uuid;
use web::{FileContent, HttpError, SentFile, content_disposition, safe_file_name};
use wire::organize::{Folder, ListFilter};
use wire::{ErrorCode, UserError};
use zip::ZipWriter;
use zip::write::{SimpleFileOptions, StreamWriter};

/// The number of conversations that are listed at a time.
const PAGE: u32 = 100;
/// The lists of a folder, each as whether it is that of the archive. They are read twice, because a conversation that is
/// used meanwhile moves from a later page to the first one.
const LISTS: [bool; 4] = [false, true, false, true];

/// `GET /api/folders/{id}/export`
pub(super) async fn export(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<FileContent, HttpError> {
    let chat = state.composition.chat.clone();
    let folders = chat.folders_in(&caller, &id).await?;
    let name = folders.first().map_or("folder", |folder| folder.name.as_str());
    let sent = SentFile {
        tag: Uuid::now_v7().to_string(),
        content_type: "application/zip".to_owned(),
        disposition: content_disposition("attachment", &format!("{}.zip", safe_file_name(name))),
        size: None,
    };
    // The response has begun, so an error can only break it off.
    let bytes = archive(chat, caller, with_paths(folders))
        .inspect_err(|error| tracing::warn!(%error, "the download of a folder was broken off"));
    Ok(FileContent::new(&HeaderMap::new(), sent, Body::from_stream(bytes)))
}

/// Returns the ids of folders with their paths in the archive. Outer folders come first.
fn with_paths(folders: Vec<Folder>) -> Vec<(String, String)> {
    let mut paths = HashMap::<String, String>::new();
    let mut found = Vec::new();
    for Folder { id, name, parent_id, .. } in folders {
        let name = safe_file_name(&name);
        let path = match parent_id.and_then(|parent| paths.get(&parent)) {
            Some(around) => format!("{around}/{name}"),
            None => name,
        };
        paths.insert(id.clone(), path.clone());
        found.push((id, path));
    }
    found
}

/// The packed bytes that were not sent yet.
#[derive(Clone, Default)]
struct UnsentBytes(Arc<Mutex<Vec<u8>>>);

impl Write for UnsentBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl UnsentBytes {
    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock()).into()
    }
}

type Writer = ZipWriter<StreamWriter<UnsentBytes>>;

/// A conversation as files.
struct ExportedFiles {
    title: String,
    json: Vec<u8>,
    markdown: String,
}

/// Packs the conversations of folders. Only one is in memory, beside the ids of all, and it is packed on a thread for
/// blocking work.
fn archive(
    chat: Chat,
    caller: Caller,
    folders: Vec<(String, String)>,
) -> impl Stream<Item = Result<Bytes, io::Error>> + Send {
    async_stream::try_stream! {
        let unsent = UnsentBytes::default();
        let mut writer: Writer = ZipWriter::new_stream(unsent.clone());
        // Makes the names of conversations with the same title differ.
        let mut number = 0_u32;
        let mut seen = HashSet::new();
        for (folder_id, path) in folders {
            for archived in LISTS {
                let mut cursor: Option<String> = None;
                loop {
                    let filter = ListFilter { archived, folder_id: Some(folder_id.clone()) };
                    let page = chat.conversations(&caller, filter, PAGE, cursor.as_deref()).await.map_err(io_error)?;
                    for item in page.items {
                        if !seen.insert(item.id.clone()) {
                            continue;
                        }
                        if let Some(files) = exported(&chat, &caller, &item.id).await.map_err(io_error)? {
                            number += 1;
                            let name = format!("{path}/{number:04} {}", safe_file_name(&files.title));
                            let pack = move || pack(writer, &name, &files);
                            writer = tokio::task::spawn_blocking(pack).await.map_err(io::Error::other)??;
                            yield unsent.take();
                        }
                    }
                    cursor = page.next;
                    if cursor.is_none() {
                        break;
                    }
                }
            }
        }
        writer.finish().map_err(io::Error::other)?;
        yield unsent.take();
    }
}

fn io_error(error: UserError) -> io::Error {
    io::Error::other(error.message)
}

/// Returns a conversation as files; `None` if it was deleted meanwhile.
async fn exported(chat: &Chat, caller: &Caller, id: &str) -> Result<Option<ExportedFiles>, UserError> {
    match files_of(chat, caller, id).await {
        Ok(files) => Ok(Some(files)),
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

async fn files_of(chat: &Chat, caller: &Caller, id: &str) -> Result<ExportedFiles, UserError> {
    let conversation = chat.export(caller, id).await?;
    let (_, markdown) = chat.markdown(caller, id).await?;
    let json = serde_json::to_vec_pretty(&conversation)
        .map_err(|_| UserError::new(ErrorCode::Internal, "The conversation cannot be exported."))?;
    Ok(ExportedFiles { title: conversation.title, json, markdown })
}

fn pack(mut writer: Writer, name: &str, files: &ExportedFiles) -> io::Result<Writer> {
    for (extension, content) in [("json", files.json.as_slice()), ("md", files.markdown.as_bytes())] {
        let started = writer.start_file(format!("{name}.{extension}"), SimpleFileOptions::default());
        started.map_err(io::Error::other)?;
        writer.write_all(content)?;
    }
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_paths_that_are_safe() {
        let folder = |id: &str, name: &str, parent: Option<&str>| Folder {
            parent_id: parent.map(str::to_owned),
            ..Folder::new(id, name)
        };
        let folders = vec![
            folder("a", "../Work", Some("around")),
            folder("b", "20/26", Some("a")),
            folder("c", "May", Some("b")),
        ];
        let paths: Vec<_> = with_paths(folders).into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, ["Work", "Work/20 26", "Work/20 26/May"]);
    }
}
