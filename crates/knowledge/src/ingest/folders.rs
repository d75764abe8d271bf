//! Follows the folders of libraries that the config declares, and the documents that stand in it.

use crate::section::{DeclaredDocument, DeclaredLibrary};
use crate::service::{Knowledge, NewFile, UploadOptions};
use crate::store::{self, DocumentRow};
use anyhow::Context;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use tokio::io::AsyncReadExt;
use web::times::now_millis;

/// The deepest folder.
const MAX_DEPTH: usize = 16;
/// The size of a read, in bytes.
const PIECE: usize = 256 * 1024;

/// A file of a folder, or a document of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FoundFile {
    content: FileContent,
    /// The path below the folder, with `/`.
    name: String,
    /// The size and the time of the last change, or the hash of a text.
    stamp: String,
}

/// The source of the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileContent {
    File(PathBuf),
    Text(String),
}

impl From<&DeclaredDocument> for FoundFile {
    fn from(document: &DeclaredDocument) -> Self {
        let text = document.text.0.clone();
        let stamp = Sha256::digest(&text)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { content: FileContent::Text(text), name: document.name.0.clone(), stamp }
    }
}

/// Brings the libraries of the config up to date with their folders.
///
/// # Errors
/// The database failed. Files and folders that cannot be read are logged.
pub(crate) async fn follow(knowledge: &Knowledge) -> anyhow::Result<()> {
    if !knowledge.has_config() {
        return Ok(());
    }
    let declared = knowledge.declared();
    let ids = declared.iter().map(|(library, _)| library.id.0.clone()).collect();
    for gone in store::undeclared(knowledge.store(), ids).await? {
        tracing::info!(library = gone, "the config no longer declares the library; it is deleted");
        let audit = crate::audit::library("", "delete", &gone, json!({ "cause": "the config no longer declares it" }));
        store::delete_library(knowledge.store(), &gone, audit).await?;
    }
    for (library, folder) in declared {
        store::declare(knowledge.store(), &library.id.0, library.title(), now_millis()).await?;
        let followed = follow_one(knowledge, &library, folder).await;
        knowledge.set_folder_problem(&library.id.0, followed.as_ref().err().map(|error| format!("{error:#}")));
        if let Err(error) = followed {
            tracing::warn!(
                library = library.id.0,
                error = format!("{error:#}"),
                "the documents of a library cannot be followed"
            );
        }
    }
    Ok(())
}

async fn follow_one(knowledge: &Knowledge, library: &DeclaredLibrary, folder: Option<PathBuf>) -> anyhow::Result<()> {
    let settings = knowledge.settings();
    let (most, largest) = (settings.library_documents as usize, settings.document_bytes);
    let found = match folder {
        Some(folder) => {
            let found = tokio::task::spawn_blocking(move || list(&folder, most, largest)).await?;
            // If the folder cannot be listed, such as one on a network that is away, the library keeps its documents.
            found.context("the folder cannot be listed")?
        }
        None => library.documents.iter().map(FoundFile::from).collect(),
    };
    let mut known = all_documents(knowledge, &library.id.0).await?;
    for file in found {
        match known.remove(&file.name) {
            Some(document) if document.stamp.as_ref() == Some(&file.stamp) => {}
            _ => add(knowledge, &library.id.0, file).await,
        }
    }
    for document in known.into_values() {
        store::delete_document(knowledge.store(), (&document.id, &library.id.0), None, now_millis()).await?;
    }
    Ok(())
}

/// Returns the documents of a library by their file names.
async fn all_documents(knowledge: &Knowledge, library: &str) -> anyhow::Result<HashMap<String, DocumentRow>> {
    let (mut all, mut after) = (HashMap::new(), String::new());
    loop {
        let page = store::documents(knowledge.store(), library, None, &after, 500).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after.clone_from(&last.id);
        all.extend(page.into_iter().map(|document| (document.file_name.clone(), document)));
    }
}

/// Adds a file, or the new version of one. A file that cannot be read is tried again the next time.
async fn add(knowledge: &Knowledge, library: &str, file: FoundFile) {
    let FoundFile { content: from, name, stamp } = file;
    let identity = Some(format!("path {name}"));
    let new = NewFile { name: name.clone(), media_type: None, identity, stamp: Some(stamp) };
    if let Err(error) = knowledge.add(library, "", "", new, UploadOptions::default(), content(from)).await {
        tracing::warn!(library, file = name, error = error.message, "a file of a library cannot be added");
    }
}

fn content(from: FileContent) -> BoxStream<'static, io::Result<Bytes>> {
    let path = match from {
        FileContent::File(path) => path,
        FileContent::Text(text) => return stream::once(std::future::ready(Ok(Bytes::from(text)))).boxed(),
    };
    Box::pin(async_stream::try_stream! {
        let mut file = tokio::fs::File::open(path).await?;
        loop {
            let mut piece = vec![0; PIECE];
            let read = file.read(&mut piece).await?;
            if read == 0 {
                break;
            }
            piece.truncate(read);
            yield Bytes::from(piece);
        }
    })
}

/// Lists the files below a folder. Links are left out, since they may lead elsewhere.
fn list(folder: &Path, most: usize, largest: u64) -> io::Result<Vec<FoundFile>> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') {
                continue;
            }
            let (kind, name) = (entry.file_type()?, format!("{prefix}{name}"));
            if kind.is_dir() && depth < MAX_DEPTH {
                open.push((entry.path(), format!("{name}/"), depth + 1));
            } else if kind.is_file() && found.len() < most {
                let about = entry.metadata()?;
                if about.len() == 0 || about.len() > largest {
                    continue;
                }
                let time = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                let stamp = format!("{}:{}", about.len(), time.as_nanos());
                found.push(FoundFile { content: FileContent::File(entry.path()), name, stamp });
            }
        }
    }
    found.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_folder_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        for (name, text) in
            [("x.md", "x"), ("a/b/y.md", "y"), (".hidden", "h"), ("empty.md", ""), ("large.md", "0123456789")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let names = |most| list(folder.path(), most, 9).unwrap().into_iter().map(|file| file.name).collect::<Vec<_>>();
        assert_eq!(names(10), ["a/b/y.md", "x.md"]);
        assert_eq!(names(1).len(), 1);
        assert!(list(&folder.path().join("none"), 1, 1).is_err());
    }
}
