//! The base folder: every access to the disk goes through it. Its handle is opened once; the kernel resolves each path beneath that
//! handle (`openat2`, or the sandbox's own steps where the system has none), so no link and no race leads out of it.

use super::path::BasePath;
use super::refusal::Refusal;
use cap_fs_ext::{MetadataExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, ReadDir};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The folder, and nothing above it.
pub(super) struct Base {
    folder: Dir,
    /// Where it was when it was opened.
    path: PathBuf,
}

/// What stands at a path.
pub(super) struct Found {
    /// A file or a folder.
    pub(super) kind: Kind,
    /// Its size, type and times.
    pub(super) metadata: Metadata,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}

impl Kind {
    /// As the tools' results say it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "directory",
        }
    }
}

/// A regular file below the base.
pub(super) struct OpenFile {
    file: File,
    /// Bytes of the whole file when it was opened; it may grow.
    pub(super) size: u64,
}

impl Base {
    /// Opens the folder. The path is the operator's: links in it are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: Dir::open_ambient_dir(path, ambient_authority())?, path: path.to_owned() })
    }

    /// What stands at the path; links are followed as long as they stay below the base.
    pub(super) fn look(&self, path: &BasePath) -> Result<Found, Refusal> {
        let metadata = self.folder.metadata(path.as_path()).map_err(|error| Refusal::of(&error))?;
        found(metadata)
    }

    /// The entries of a folder.
    pub(super) fn read_folder(&self, path: &BasePath) -> Result<ReadDir, Refusal> {
        match self.look(path)?.kind {
            Kind::Folder => self.folder.read_dir(path.as_path()).map_err(|error| Refusal::of(&error)),
            Kind::File => Err(Refusal::NotFolder),
        }
    }

    /// Opens a file.
    pub(super) fn open_file(&self, path: &BasePath) -> Result<OpenFile, Refusal> {
        // Looked at before, because to open a device may already do something, and after, because what was looked at may be
        // another file by then.
        require_file(self.look(path)?)?;
        let mut options = OpenOptions::new();
        // Without waiting: a pipe would block until someone writes to it.
        options.read(true).nonblock(true);
        let file = self.folder.open_with(path.as_path(), &options).map_err(|error| Refusal::of(&error))?;
        let metadata = file.metadata().map_err(|error| Refusal::of(&error))?;
        Ok(OpenFile { size: require_file(found(metadata)?)?.len(), file })
    }
}

impl Base {
    /// The check by the wording of a path that others have shipped; see [`faults::Break::PathPrefix`].
    pub(super) fn read_by_prefix(&self, written: &str) -> Option<String> {
        let base = std::fs::canonicalize(&self.path).ok()?;
        let path = std::fs::canonicalize(base.join(written)).ok()?;
        if !path.to_str()?.starts_with(base.to_str()?) {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }
}

impl OpenFile {
    /// The first `limit` bytes.
    pub(super) fn read(self, limit: usize) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::new();
        self.file.take(limit as u64).read_to_end(&mut bytes).map_err(|error| Refusal::of(&error))?;
        Ok(bytes)
    }
}

/// Refuses what is neither a file nor a folder, and a file that has several names: one of them may be outside, and the disk
/// does not tell where the others are.
fn found(metadata: Metadata) -> Result<Found, Refusal> {
    let kind = match metadata.file_type() {
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_file() && metadata.nlink() > 1 => return Err(Refusal::Outside),
        kind if kind.is_file() => Kind::File,
        _ => return Err(Refusal::Special),
    };
    Ok(Found { kind, metadata })
}

fn require_file(found: Found) -> Result<Metadata, Refusal> {
    match found.kind {
        Kind::File => Ok(found.metadata),
        Kind::Folder => Err(Refusal::NotFile),
    }
}

/// Bytes as text: `None` when they are none. Bytes that are not UTF-8 become `�`, so that one of them does not hide a file.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}
