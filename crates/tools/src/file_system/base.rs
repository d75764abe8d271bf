//! The base folder: every access to the disk goes through it. Its handle is opened once; the kernel
//! resolves each path beneath that handle (`openat2`, or the steps of `cap-std` where the system
//! has none), so no link and no race leads out of it.

use super::path::BasePath;
use super::refusal::PathRefusal;
use cap_fs_ext::{MetadataExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, ReadDir};
use std::io::{self, Read};
use std::path::Path;

/// The base folder.
pub(super) struct BaseFolder {
    folder: Dir,
}

/// The entry at a path.
pub(super) struct FoundEntry {
    /// Whether it is a file or a folder.
    pub(super) kind: FileKind,
    /// The size, type and times.
    pub(super) metadata: Metadata,
}

/// The kinds of entries that can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}

impl FileKind {
    /// Returns the name in the tools' results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "directory",
        }
    }
}

/// An open regular file below the base.
pub(super) struct OpenFile {
    file: File,
    /// The size of the file in bytes when it was opened; the file may grow.
    pub(super) size: u64,
}

impl BaseFolder {
    /// Opens the folder. Links in the path are followed, because it is the operator's.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: Dir::open_ambient_dir(path, ambient_authority())? })
    }

    /// Looks up a path. Links are followed as long as they stay below the base.
    pub(super) fn look_up(&self, path: &BasePath) -> Result<FoundEntry, PathRefusal> {
        let metadata = self.folder.metadata(path.as_path()).map_err(|error| PathRefusal::from_io(&error))?;
        found(metadata)
    }

    /// Returns the entries of a folder.
    pub(super) fn read_folder(&self, path: &BasePath) -> Result<ReadDir, PathRefusal> {
        match self.look_up(path)?.kind {
            FileKind::Folder => self.folder.read_dir(path.as_path()).map_err(|error| PathRefusal::from_io(&error)),
            FileKind::File => Err(PathRefusal::NotFolder),
        }
    }

    /// Opens a file.
    pub(super) fn open_file(&self, path: &BasePath) -> Result<OpenFile, PathRefusal> {
        // The type is checked before, because opening a device may already have an effect, and
        // after, because the path may lead to another file by then.
        require_file(self.look_up(path)?)?;
        let mut options = OpenOptions::new();
        // Without `nonblock`, opening a pipe would block until someone writes to it.
        options.read(true).nonblock(true);
        let file = self.folder.open_with(path.as_path(), &options).map_err(|error| PathRefusal::from_io(&error))?;
        let metadata = file.metadata().map_err(|error| PathRefusal::from_io(&error))?;
        Ok(OpenFile { size: require_file(found(metadata)?)?.len(), file })
    }
}

impl OpenFile {
    /// Reads the first `limit` bytes.
    pub(super) fn read(self, limit: usize) -> Result<Vec<u8>, PathRefusal> {
        let mut bytes = Vec::new();
        self.file.take(limit as u64).read_to_end(&mut bytes).map_err(|error| PathRefusal::from_io(&error))?;
        Ok(bytes)
    }
}

/// Refuses anything but files and folders, and files with several hard links: one of the names may
/// be outside of the base, and the disk does not tell where the others are.
fn found(metadata: Metadata) -> Result<FoundEntry, PathRefusal> {
    let kind = match metadata.file_type() {
        kind if kind.is_dir() => FileKind::Folder,
        kind if kind.is_file() && metadata.nlink() > 1 => return Err(PathRefusal::Outside),
        kind if kind.is_file() => FileKind::File,
        _ => return Err(PathRefusal::Special),
    };
    Ok(FoundEntry { kind, metadata })
}

fn require_file(found: FoundEntry) -> Result<Metadata, PathRefusal> {
    match found.kind {
        FileKind::File => Ok(found.metadata),
        FileKind::Folder => Err(PathRefusal::NotFile),
    }
}

/// Decodes text; `None` if the bytes are binary. Bytes that are not UTF-8 become `�`, so that one
/// of them does not hide a file.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}
