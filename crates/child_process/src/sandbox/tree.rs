//! Puts files into folders of a sandbox, and takes them out. No link is followed in either direction: it would lead out
//! of the sandbox, because this process is outside.

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Timespec, Timestamps, UTIME_OMIT, chmodat, mkdirat, openat2,
    statat, utimensat,
};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, SystemTime};

/// The mode of files and folders. Other users cannot read them.
const MODE: Mode = Mode::RWXU;

/// The identity of a file's version: if none of these values has changed, the content is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    size: u64,
    node: u64,
    /// When the content was changed. A process that changes the content could reset it.
    modified: (i64, u64),
    /// When the file or its metadata were changed; processes cannot set it.
    changed: (i64, u64),
}

/// An entry of a folder, at a path that is relative to the folder.
pub enum TreeEntry {
    /// A file.
    File(Stamp, File),
    /// Something else that is no folder, in a word.
    Other(&'static str),
}

/// Why files are not taken out.
#[derive(Debug)]
pub enum WalkError<E> {
    /// There are more files and folders than allowed, or they are nested more deeply.
    TooMany,
    /// The file system fails.
    System(io::Error),
    /// The error of the visitor.
    Visitor(E),
}

/// Writes a new file, with the folders above it. `path` is relative and has no `..`.
///
/// # Errors
/// The file exists, or the file system refuses it.
pub fn write(folder: BorrowedFd<'_>, path: &str, content: &[u8], modified: SystemTime) -> io::Result<Stamp> {
    for (end, _) in path.match_indices('/') {
        // Safe without checks of links: no process runs in the sandbox yet.
        match mkdirat(folder, &path[..end], MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(openat2(folder, path, how, MODE, inside())?);
    file.write_all(content)?;
    drop(file);
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let modified = Timespec::try_from(since).map_err(io::Error::other)?;
    let times = Timestamps { last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT }, last_modification: modified };
    utimensat(folder, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(stamp(folder, path)?)
}

/// Visits everything in a folder but its folders. Nothing may change it meanwhile: what runs in the sandbox must have
/// ended.
///
/// # Errors
/// See [`WalkError`].
pub fn walk<E>(
    folder: BorrowedFd<'_>,
    most: usize,
    most_depth: usize,
    mut visit: impl FnMut(&[u8], TreeEntry) -> Result<(), E>,
) -> Result<(), WalkError<E>> {
    chmodat(folder, ".", MODE, AtFlags::empty()).map_err(|error| WalkError::System(error.into()))?;
    let mut seen = 0;
    let mut folders = VecDeque::from([(Vec::new(), 0)]);
    while let Some((above, depth)) = folders.pop_front() {
        for name in names(folder, &above)? {
            seen += 1;
            if seen > most || depth > most_depth {
                return Err(WalkError::TooMany);
            }
            let path = if above.is_empty() { name } else { [&above[..], b"/", &name].concat() };
            match entry(folder, &path)? {
                None => folders.push_back((path, depth + 1)),
                Some(entry) => visit(&path, entry).map_err(WalkError::Visitor)?,
            }
        }
    }
    Ok(())
}

impl<E> From<io::Error> for WalkError<E> {
    fn from(error: io::Error) -> Self {
        // A command can nest folders until their path is longer than the system takes.
        let is_too_deep = error.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error());
        if is_too_deep { Self::TooMany } else { Self::System(error) }
    }
}

/// No step of a path may leave the folder, be a link, or be in another file system.
fn inside() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV
}

/// Returns the names in a folder, sorted.
fn names(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let path = if path.is_empty() { b"." } else { path };
    let opened = open(root, path, OFlags::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in Dir::new(opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the entry at a path; `None` for a folder.
fn entry(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<Option<TreeEntry>> {
    let stat = statat(root, path, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    // A command may have made its own files unreadable. Nothing can have replaced it by a link meanwhile.
    if matches!(kind, FileType::Directory | FileType::RegularFile) && !Mode::from_raw_mode(stat.st_mode).contains(MODE)
    {
        chmodat(root, path, MODE, AtFlags::empty())?;
    }
    let other = match kind {
        FileType::Directory => return Ok(None),
        FileType::RegularFile => {
            return Ok(Some(TreeEntry::File(stamp(root, path)?, open(root, path, OFlags::NONBLOCK)?.into())));
        }
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Ok(Some(TreeEntry::Other(other)))
}

fn stamp(root: BorrowedFd<'_>, path: impl rustix::path::Arg) -> rustix::io::Result<Stamp> {
    let stat = statat(root.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Stamp {
        size: stat.st_size.unsigned_abs(),
        node: stat.st_ino,
        modified: (stat.st_mtime, stat.st_mtime_nsec),
        changed: (stat.st_ctime, stat.st_ctime_nsec),
    })
}

fn open(root: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | flags;
    Ok(openat2(root, path, how, Mode::empty(), inside())?)
}
