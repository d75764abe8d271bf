//! The file system as the shell uses it.

use super::nodes::{Kind, Node};
use super::{WorkspaceFiles, check_writable, not_found};
use bashkit::{DirEntry, FsBackend, FsLimits, Metadata, Result, async_trait};
use bytes::Bytes;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Returns a path as text. The wrapper of the shell has resolved `.` and `..`.
fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(not_found)
}

#[async_trait]
impl FsBackend for WorkspaceFiles {
    /// Some commands take memory for a file before they write it, and ask here how much it may be.
    fn limits(&self) -> FsLimits {
        FsLimits::unlimited().max_file_size(self.limits.file_bytes).max_total_bytes(self.memory)
    }

    async fn read(&self, path: &Path) -> Result<Vec<u8>> {
        Ok(self.load(text(path)?).await?.to_vec())
    }

    async fn write(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.store(text(path)?, Bytes::copy_from_slice(content))
    }

    async fn append(&self, path: &Path, content: &[u8]) -> Result<()> {
        let path = text(path)?;
        let mut whole = match self.load(path).await {
            Ok(known) => known.to_vec(),
            Err(_) if !self.nodes.lock().nodes.contains_key(path) => Vec::new(),
            Err(error) => return Err(error),
        };
        whole.extend_from_slice(content);
        self.store(path, whole.into())
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        let path = text(path)?;
        let ends: Vec<usize> = if recursive {
            path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).collect()
        } else {
            Vec::new()
        };
        for end in ends.into_iter().chain([path.len()]) {
            let folder = &path[..end];
            let mut nodes = self.nodes.lock();
            if !nodes.nodes.contains_key(folder) {
                self.check_place(&nodes, folder, Kind::Folder)?;
                nodes.insert(folder, Node::Folder);
            }
        }
        Ok(())
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        let path = text(path)?;
        check_writable(path)?;
        let mut nodes = self.nodes.lock();
        if !nodes.nodes.contains_key(path) {
            return Err(not_found());
        }
        let children = nodes.children(path);
        if !children.is_empty() && !recursive {
            return Err(io::Error::other("directory not empty").into());
        }
        for path in children.iter().map(String::as_str).chain([path]) {
            nodes.forget(path);
        }
        Ok(())
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        self.metadata(text(path)?)
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        let path = text(path)?;
        let nodes = self.nodes.lock();
        if !nodes.nodes.get(path).is_some_and(Node::is_folder) {
            return Err(not_found());
        }
        let start = path.trim_end_matches('/').len() + 1;
        let children = nodes.children(path).into_iter().filter(|child| !child[start..].contains('/'));
        let entry = |child: String| {
            Some(DirEntry { name: child[start..].to_owned(), metadata: nodes.nodes.get(&child)?.metadata() })
        };
        Ok(children.filter_map(entry).collect())
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        Ok(self.nodes.lock().nodes.contains_key(text(path)?))
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (from, to) = (text(from)?, text(to)?);
        if to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(io::Error::other("cannot move a directory into itself").into());
        }
        if from == to {
            return Ok(());
        }
        check_writable(from)?;
        // Everything is copied before anything is removed, so that a failure leaves the source as it was.
        let sources: Vec<String> = self.nodes.lock().children(from);
        for source in [from.to_owned()].into_iter().chain(sources) {
            let target = format!("{to}{}", &source[from.len()..]);
            if self.metadata(&source)?.file_type.is_dir() {
                self.mkdir(Path::new(&target), true).await?;
            } else {
                self.copy(Path::new(&source), Path::new(&target)).await?;
            }
        }
        self.remove(Path::new(from), true).await
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let content = self.load(text(from)?).await?;
        self.store(text(to)?, content)
    }

    async fn symlink(&self, _: &Path, _: &Path) -> Result<()> {
        Err(io::Error::new(ErrorKind::Unsupported, "Operation not supported: there are no links").into())
    }

    async fn read_link(&self, _: &Path) -> Result<PathBuf> {
        Err(io::Error::new(ErrorKind::InvalidInput, "Invalid argument").into())
    }

    async fn chmod(&self, path: &Path, _: u32) -> Result<()> {
        // Every file can be read and run by its conversation only.
        self.metadata(text(path)?).map(drop)
    }

    async fn set_modified_time(&self, path: &Path, _: SystemTime) -> Result<()> {
        self.metadata(text(path)?).map(drop)
    }
}
