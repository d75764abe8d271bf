//! The files of a workspace as a file system of the emulated shell. Contents are read from the store when they are
//! needed, and nothing is written before the script has ended.

use crate::path::{TREES, WorkspacePath};
use crate::section::WorkspaceLimits;
use crate::tree::{FileEntry, check_new};
use crate::workspace::is_writable;
use bashkit::{DirEntry, Error, FileType, FsBackend, FsLimits, Metadata, Result, async_trait};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The folder for temporary files, which are gone after the call.
const SCRATCH: &str = "/tmp";
/// What is written to it is discarded.
const NULL: &str = "/dev/null";
/// The most temporary files and folders of a call.
const MAX_SCRATCH: usize = 2_000;
/// The most folders that a call makes in the trees.
const MAX_NEW_FOLDERS: usize = 2_000;
/// The longest path of a temporary file in bytes.
const MAX_SCRATCH_PATH: usize = 400;

/// Where the contents of stored files come from.
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

/// A file or folder.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A folder.
    Folder,
    /// A file of the store that has not been read or changed.
    Stored(FileEntry),
    /// A file whose content is in memory.
    Loaded {
        /// The content.
        content: Bytes,
        /// What the store has for it; `None` for a file that is new or was changed.
        stored: Option<FileEntry>,
        /// When it was changed.
        modified: SystemTime,
    },
}

impl Node {
    fn is_folder(&self) -> bool {
        matches!(self, Self::Folder)
    }

    fn metadata(&self) -> Metadata {
        let stored_time =
            |entry: &FileEntry| SystemTime::UNIX_EPOCH + Duration::from_millis(entry.changed_at.max(0).cast_unsigned());
        let (file_type, size, mode, modified) = match self {
            Self::Folder => (FileType::Directory, 0, 0o755, SystemTime::UNIX_EPOCH),
            Self::Stored(entry) => (FileType::File, entry.size, 0o755, stored_time(entry)),
            Self::Loaded { content, modified, .. } => (FileType::File, content.len() as u64, 0o755, *modified),
        };
        Metadata { file_type, size, mode, modified, created: modified }
    }
}

/// What a node counts as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What is in the folder for temporary files.
    Scratch,
    Folder,
    File,
}

impl Kind {
    fn of(path: &str, node: &Node) -> Self {
        if is_scratch(path) {
            Self::Scratch
        } else if node.is_folder() {
            Self::Folder
        } else {
            Self::File
        }
    }
}

/// The nodes by their paths, with what they use.
#[derive(Default)]
struct Nodes {
    nodes: BTreeMap<String, Node>,
    /// The bytes that are in memory.
    loaded: u64,
    /// The number of nodes of each kind, kept so that a check does not count them.
    counts: [usize; 3],
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
            return Err(denied("a name is written in Unicode's composed form (NFC)".to_owned()));
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

impl Nodes {
    /// Counts bytes that come into memory in place of others. What is refused changes nothing.
    fn exchange(&mut self, old: u64, new: u64, memory: u64) -> Result<()> {
        let loaded = self.loaded.saturating_sub(old).saturating_add(new);
        if loaded > memory {
            return Err(no_space(&format!("the files of a call may take {memory} bytes of memory")));
        }
        self.loaded = loaded;
        Ok(())
    }

    fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    fn insert(&mut self, path: &str, node: Node) {
        self.counts[Kind::of(path, &node) as usize] += 1;
        if let Some(old) = self.nodes.insert(path.to_owned(), node) {
            self.counts[Kind::of(path, &old) as usize] -= 1;
        }
    }

    fn children(&self, folder: &str) -> Vec<String> {
        let below = format!("{}/", folder.trim_end_matches('/'));
        let paths = self.nodes.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        paths.map(|(path, _)| path.clone()).filter(|path| path.len() > below.len()).collect()
    }

    fn forget(&mut self, path: &str) {
        let Some(node) = self.nodes.remove(path) else { return };
        self.counts[Kind::of(path, &node) as usize] -= 1;
        if matches!(node, Node::Loaded { .. }) {
            self.loaded = self.loaded.saturating_sub(node.metadata().size);
        }
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
