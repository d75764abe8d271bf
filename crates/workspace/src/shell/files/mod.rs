//! The files of a workspace as a file system of the emulated shell. Contents are read from the store when they are
//! needed, and nothing is written before the script has ended.

mod backend;
mod nodes;

pub(super) use nodes::Node;

use crate::path::{TREES, WorkspacePath};
use crate::section::WorkspaceLimits;
use crate::tree::{FileEntry, check_new};
use crate::workspace::is_writable;
use bashkit::{Error, Metadata, Result, async_trait};
use bytes::Bytes;
use nodes::{Kind, Nodes};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::SystemTime;

/// The folder for temporary files, which are gone after the call.
const SCRATCH: &str = "/tmp";
/// The path of the null device: writes to it are discarded.
const NULL: &str = "/dev/null";
/// The most temporary files and folders of a call.
const MAX_SCRATCH: usize = 2_000;
/// The most folders that a call makes in the trees.
const MAX_NEW_FOLDERS: usize = 2_000;
/// The longest path of a temporary file in bytes.
const MAX_SCRATCH_PATH: usize = 400;

/// A source of the contents of stored files.
#[async_trait]
pub(super) trait ContentSource: Send + Sync {
    /// Reads the file that the store has at a path.
    async fn read(&self, path: &str) -> std::result::Result<Bytes, ReadError>;
}

/// Why a file cannot be read.
pub(super) enum ReadError {
    /// For this reason, as a clause.
    Refused(String),
    /// The store failed.
    Failed,
}

/// The file system of a call.
#[derive(Clone)]
pub(super) struct WorkspaceFiles {
    nodes: Arc<Mutex<Nodes>>,
    limits: WorkspaceLimits,
    memory: u64,
    /// The most folders.
    folders: usize,
    source: Arc<dyn ContentSource>,
}

impl WorkspaceFiles {
    /// Creates the file system with the files of a workspace. `memory` is the most bytes that it holds.
    pub(super) fn new(
        files: &[(String, FileEntry)],
        limits: WorkspaceLimits,
        memory: u64,
        source: Arc<dyn ContentSource>,
    ) -> Self {
        let mut nodes = Nodes::default();
        for folder in ["/", SCRATCH, "/dev"].into_iter().chain(TREES) {
            nodes.insert(folder, Node::Folder);
        }
        nodes.nodes.insert(
            NULL.to_owned(),
            Node::Loaded { content: Bytes::new(), stored: None, modified: SystemTime::UNIX_EPOCH },
        );
        for (path, entry) in files {
            for (end, _) in path.match_indices('/').skip(1) {
                nodes.insert(&path[..end], Node::Folder);
            }
            nodes.insert(path, Node::Stored(entry.clone()));
        }
        let folders = nodes.count(Kind::Folder) + MAX_NEW_FOLDERS;
        Self { nodes: Arc::new(Mutex::new(nodes)), limits, memory, folders, source }
    }

    /// Returns all files and folders as they are.
    pub(super) fn into_nodes(self) -> BTreeMap<String, Node> {
        std::mem::take(&mut self.nodes.lock().nodes)
    }

    async fn load(&self, path: &str) -> Result<Bytes> {
        let entry = match self.nodes.lock().nodes.get(path) {
            Some(Node::Loaded { content, .. }) => return Ok(content.clone()),
            Some(Node::Stored(entry)) => entry.clone(),
            Some(Node::Folder) => return Err(io::Error::other("is a directory").into()),
            None => return Err(not_found()),
        };
        // Until the content is in, so that calls at once do not read more than they may together.
        let mut reserved = Reserved { files: self, bytes: 0 };
        reserved.add(entry.size)?;
        let content = self.source.read(path).await.map_err(|error| match error {
            ReadError::Refused(reason) => denied(reason),
            ReadError::Failed => io::Error::other("input/output error").into(),
        })?;
        // The size of a document's text was not known.
        reserved.add((content.len() as u64).saturating_sub(entry.size))?;
        drop(reserved);
        self.keep(path, entry, &content)?;
        Ok(content)
    }

    /// Keeps a content that was read, unless the file is another one meanwhile.
    fn keep(&self, path: &str, entry: FileEntry, content: &Bytes) -> Result<()> {
        let mut nodes = self.nodes.lock();
        if !matches!(nodes.nodes.get(path), Some(Node::Stored(now)) if *now == entry) {
            return Ok(());
        }
        nodes.exchange(0, content.len() as u64, self.memory)?;
        let modified = Node::Stored(entry.clone()).metadata().modified;
        nodes.insert(path, Node::Loaded { content: content.clone(), modified, stored: Some(entry) });
        Ok(())
    }

    fn store(&self, path: &str, content: Bytes) -> Result<()> {
        let mut nodes = self.nodes.lock();
        if path == NULL {
            return Ok(());
        }
        let held = match nodes.nodes.get(path) {
            Some(Node::Folder) => return Err(io::Error::other("is a directory").into()),
            Some(node @ Node::Loaded { .. }) => node.metadata().size,
            Some(Node::Stored(_)) => 0,
            None => {
                self.check_place(&nodes, path, Kind::File)?;
                0
            }
        };
        check_writable(path)?;
        if content.len() as u64 > self.limits.file_bytes {
            let reason = format!("File too large: a file may have {} bytes", self.limits.file_bytes);
            return Err(io::Error::new(ErrorKind::FileTooLarge, reason).into());
        }
        nodes.exchange(held, content.len() as u64, self.memory)?;
        nodes.insert(path, Node::Loaded { content, stored: None, modified: SystemTime::now() });
        Ok(())
    }

    /// Checks whether a file or folder may be created.
    fn check_place(&self, nodes: &Nodes, path: &str, kind: Kind) -> Result<()> {
        check_writable(path)?;
        if is_scratch(path) {
            let has_room = nodes.count(Kind::Scratch) < MAX_SCRATCH;
            return if has_room { Ok(()) } else { Err(no_space("too many temporary files")) };
        }
        if kind == Kind::Folder && nodes.count(Kind::Folder) >= self.folders {
            return Err(no_space("too many folders"));
        }
        let parsed = WorkspacePath::parse(path).map_err(denied)?;
        if parsed.as_str() != path {
            return Err(denied("a name must be in Unicode's composed form (NFC)".to_owned()));
        }
        if nodes.count(Kind::File) as u64 >= self.limits.files {
            return Err(no_space(&format!("a conversation may have {} files", self.limits.files)));
        }
        let files = nodes.nodes.iter().filter(|(path, node)| Kind::of(path, node) == Kind::File && *path != NULL);
        check_new(&parsed, files.map(|(path, _)| path.as_str())).map_err(denied)
    }

    fn metadata(&self, path: &str) -> Result<Metadata> {
        self.nodes.lock().nodes.get(path).map(Node::metadata).ok_or_else(not_found)
    }
}

/// Bytes that are counted until it is dropped.
struct Reserved<'f> {
    files: &'f WorkspaceFiles,
    bytes: u64,
}

impl Reserved<'_> {
    fn add(&mut self, bytes: u64) -> Result<()> {
        self.files.nodes.lock().exchange(0, bytes, self.files.memory)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut nodes = self.files.nodes.lock();
        nodes.loaded = nodes.loaded.saturating_sub(self.bytes);
    }
}

fn is_scratch(path: &str) -> bool {
    path.strip_prefix(SCRATCH).is_some_and(|rest| rest.starts_with('/'))
}

/// Checks whether a path is in a folder that scripts may change.
fn check_writable(path: &str) -> Result<()> {
    if let Some(rest) = path.strip_prefix(SCRATCH).filter(|rest| rest.starts_with('/')) {
        let is_plain = path.len() <= MAX_SCRATCH_PATH && !rest.contains('\0');
        return if is_plain { Ok(()) } else { Err(denied("File name too long".to_owned())) };
    }
    let is_in = |tree: &str| path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/'));
    if !TREES.into_iter().any(is_in) {
        return Err(denied("Permission denied: only /workspace, /outputs and /tmp can be written".to_owned()));
    }
    let parsed = WorkspacePath::parse(path).map_err(denied)?;
    if is_writable(&parsed) {
        Ok(())
    } else {
        Err(io::Error::new(ErrorKind::ReadOnlyFilesystem, "Read-only file system: /uploads").into())
    }
}

fn not_found() -> Error {
    io::Error::new(ErrorKind::NotFound, "No such file or directory").into()
}

fn denied(reason: String) -> Error {
    io::Error::new(ErrorKind::PermissionDenied, reason).into()
}

fn no_space(reason: &str) -> Error {
    io::Error::new(ErrorKind::StorageFull, format!("No space left on device: {reason}")).into()
}
