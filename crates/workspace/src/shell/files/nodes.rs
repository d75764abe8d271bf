//! The files and folders of a call, with what they use.

use super::{is_scratch, no_space};
use crate::tree::FileEntry;
use bashkit::{FileType, Metadata, Result};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// A file or folder.
#[derive(Clone, Debug)]
pub(in crate::shell) enum Node {
    /// A folder.
    Folder,
    /// A file of the store that has not been read or changed.
    Stored(FileEntry),
    /// A file whose content is in memory.
    Loaded {
        /// The content.
        content: Bytes,
        /// The stored entry; `None` for a file that is new or was changed.
        stored: Option<FileEntry>,
        /// When it was changed.
        modified: SystemTime,
    },
}

impl Node {
    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder)
    }

    pub(super) fn metadata(&self) -> Metadata {
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

/// The kind of a node, for the limits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A node in the folder for temporary files.
    Scratch,
    Folder,
    File,
}

impl Kind {
    pub(super) fn of(path: &str, node: &Node) -> Self {
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
pub(super) struct Nodes {
    pub(super) nodes: BTreeMap<String, Node>,
    /// The bytes that are in memory.
    pub(super) loaded: u64,
    /// The number of nodes of each kind, kept so that a check does not count them.
    counts: [usize; 3],
}

impl Nodes {
    /// Counts bytes in memory that replace others. If there is no room for them, nothing changes.
    pub(super) fn exchange(&mut self, old: u64, new: u64, memory: u64) -> Result<()> {
        let loaded = self.loaded.saturating_sub(old).saturating_add(new);
        if loaded > memory {
            return Err(no_space(&format!("the files of a call may take {memory} bytes of memory")));
        }
        self.loaded = loaded;
        Ok(())
    }

    pub(super) fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    pub(super) fn insert(&mut self, path: &str, node: Node) {
        self.counts[Kind::of(path, &node) as usize] += 1;
        if let Some(old) = self.nodes.insert(path.to_owned(), node) {
            self.counts[Kind::of(path, &old) as usize] -= 1;
        }
    }

    pub(super) fn children(&self, folder: &str) -> Vec<String> {
        let below = format!("{}/", folder.trim_end_matches('/'));
        let paths = self.nodes.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        paths.map(|(path, _)| path.clone()).filter(|path| path.len() > below.len()).collect()
    }

    pub(super) fn forget(&mut self, path: &str) {
        let Some(node) = self.nodes.remove(path) else { return };
        self.counts[Kind::of(path, &node) as usize] -= 1;
        if matches!(node, Node::Loaded { .. }) {
            self.loaded = self.loaded.saturating_sub(node.metadata().size);
        }
    }
}
