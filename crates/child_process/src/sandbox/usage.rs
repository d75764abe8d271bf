//! What the processes of a sandbox use together.

use rustix::fs::{Dir, Mode, OFlags, fstatvfs, openat};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

/// The longest `status` of a process in bytes.
const MAX_STATUS: u64 = 8 << 10;
/// The unit of `status`.
const KILOBYTE: u64 = 1 << 10;

/// What is used at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The memory of all processes in bytes, as far as it is theirs alone. They have no shared memory, and what they
    /// have read from files is not theirs.
    pub(super) memory_bytes: u64,
    /// The files and folders in all folders.
    pub(super) nodes: u64,
}

impl Usage {
    /// Returns what is used. What has ended meanwhile uses nothing.
    pub(super) fn of(processes: &OwnedFd, folders: &[OwnedFd]) -> Self {
        let used = |folder: &OwnedFd| fstatvfs(folder).map_or(0, |system| system.f_files - system.f_ffree);
        let nodes = folders.iter().map(used).sum();
        Self { memory_bytes: memory(processes).unwrap_or_default(), nodes }
    }
}

fn memory(processes: &OwnedFd) -> io::Result<u64> {
    let mut all = 0;
    for entry in Dir::read_from(processes)? {
        let entry = entry?;
        if entry.file_name().to_bytes().first().is_some_and(u8::is_ascii_digit) {
            let path = [entry.file_name().to_bytes(), b"/status"].concat();
            all += memory_of(processes, &path).unwrap_or_default();
        }
    }
    Ok(all)
}

fn memory_of(processes: &OwnedFd, path: &[u8]) -> io::Result<u64> {
    let file = openat(processes, path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
    let mut status = String::new();
    File::from(file).take(MAX_STATUS).read_to_string(&mut status)?;
    let lines = status.lines().filter_map(|line| line.split_once(':'));
    let own = lines.filter(|(name, _)| ["RssAnon", "RssShmem", "VmSwap"].contains(name));
    let amounts = own.filter_map(|(_, amount)| amount.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(amounts.sum::<u64>() * KILOBYTE)
}
