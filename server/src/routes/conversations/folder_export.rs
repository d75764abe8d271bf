//! A folder with its conversations as a ZIP archive.

use crate::state::AppState;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use chat::{Caller, Chat};
use futures::{Stream, TryStreamExt};
use std::collections::{HashMap, HashSet};
use std::io;
use web::{ArchivePart, FileContent, HttpError, archive_download, safe_file_name};
use wire::organize::{Folder, ListFilter};
use wire::{ErrorCode, UserError};

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
    let file_name = format!("{}.zip", safe_file_name(name));
    // The response has begun, so an error can only break it off.
    let parts = parts(chat, caller.clone(), with_paths(folders))
        .inspect_err(|error| tracing::warn!(%error, "the download of a folder was broken off"));
    Ok(archive_download(&caller.user_id, &file_name, parts)?)
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

/// A conversation as files.
struct ExportedFiles {
    title: String,
    json: Bytes,
    markdown: Bytes,
}

/// Returns the parts of an archive with the conversations of folders. Only one conversation is in memory, beside the
/// ids of all.
fn parts(
    chat: Chat,
    caller: Caller,
    folders: Vec<(String, String)>,
) -> impl Stream<Item = Result<ArchivePart, io::Error>> + Send {
    async_stream::try_stream! {
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
                            yield ArchivePart::File(format!("{name}.json"));
                            yield ArchivePart::Content(files.json);
                            yield ArchivePart::File(format!("{name}.md"));
                            yield ArchivePart::Content(files.markdown);
                        }
                    }
                    cursor = page.next;
                    if cursor.is_none() {
                        break;
                    }
                }
            }
        }
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
    Ok(ExportedFiles { title: conversation.title, json: json.into(), markdown: markdown.into() })
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
