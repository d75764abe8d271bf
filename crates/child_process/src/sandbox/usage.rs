//! The resources that the processes of a sandbox use together.

use rustix::fs::{Dir, Mode, OFlags, fstatvfs, openat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The longest `status` of a process in bytes. It names all groups.
const MAX_STATUS: u64 = 1 << 20;
/// The unit of `status`.
const KILOBYTE: u64 = 1 << 10;
/// The fields that count as the memory of a process: its own pages, and the tables of its address space.
const MEMORY: [&[u8]; 4] = [b"RssAnon", b"RssShmem", b"VmSwap", b"VmPTE"];
/// How often the threads of a process are listed while it starts others.
const MAX_LISTINGS: usize = 10;

/// The used resources at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The memory of all processes in bytes, as far as it is theirs alone; the largest number if it cannot be read.
    /// They have no shared memory, and pages of files are not counted.
    pub(super) memory_bytes: u64,
    /// The files and folders in all folders.
    pub(super) nodes: u64,
}

impl Usage {
    /// Returns the used resources. Processes that have ended meanwhile count as 0.
    pub(super) fn of(processes: &OwnedFd, folders: &[OwnedFd]) -> Self {
        let used = |folder: &OwnedFd| fstatvfs(folder).map_or(0, |system| system.f_files - system.f_ffree);
        let nodes = folders.iter().map(used).sum();
        // If the memory cannot be read, the command is ended: a process could prevent that it is counted.
        Self { memory_bytes: memory(processes.as_fd()).unwrap_or(u64::MAX), nodes }
    }
}

fn memory(processes: BorrowedFd<'_>) -> io::Result<u64> {
    let mut all = 0_u64;
    for id in numbers(processes, b".")? {
        all = all.saturating_add(memory_of(processes, &id)?);
    }
    Ok(all)
}

/// Returns the memory of a process.
fn memory_of(processes: BorrowedFd<'_>, id: &[u8]) -> io::Result<u64> {
    if let Some(bytes) = status_memory(processes, id)? {
        return Ok(bytes);
    }
    // The first thread has ended; others may still have the memory. One without memory is ending and starts no other
    // thread, so the process is ending if all threads of a list have none, and no new one has come meanwhile.
    let threads = [id, b"/task"].concat();
    let mut seen = HashSet::new();
    for _ in 0..MAX_LISTINGS {
        let listed = numbers(processes, &threads)?;
        if listed.iter().all(|thread| seen.contains(thread)) {
            return Ok(0);
        }
        for thread in &listed {
            if let Some(bytes) = status_memory(processes, &[&threads[..], b"/", thread].concat())? {
                return Ok(bytes);
            }
        }
        seen.extend(listed);
    }
    Err(io::Error::other("a process starts threads faster than they can be listed"))
}

/// Returns the entries of a folder that are numbers; none if the folder has gone.
fn numbers(processes: BorrowedFd<'_>, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Some(opened) = unless_gone(openat(processes, folder, flags, Mode::empty()).map_err(io::Error::from))? else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for entry in Dir::new(opened)? {
        let Some(entry) = unless_gone(entry.map_err(io::Error::from))? else { break };
        let name = entry.file_name().to_bytes();
        if name.iter().all(u8::is_ascii_digit) {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

/// Returns the memory that the status of a process or of a thread says; `None` if it has none any more.
fn status_memory(processes: BorrowedFd<'_>, of: &[u8]) -> io::Result<Option<u64>> {
    Ok(unless_gone(read_status(processes, of))?.and_then(|status| parse(&status)))
}

fn read_status(processes: BorrowedFd<'_>, of: &[u8]) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = openat(processes, [of, b"/status"].concat(), flags, Mode::empty())?;
    let mut status = Vec::new();
    File::from(file).take(MAX_STATUS).read_to_end(&mut status)?;
    Ok(status)
}

/// Returns `None` if a process has ended meanwhile.
fn unless_gone<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    let gone = [Errno::NOENT, Errno::SRCH].map(Errno::raw_os_error);
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.raw_os_error().is_some_and(|code| gone.contains(&code)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the bytes that a status says. The name of the process in it may have any bytes but a line break.
fn parse(status: &[u8]) -> Option<u64> {
    let mut all = None;
    for line in status.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        if MEMORY.contains(&&line[..colon]) {
            let amount = String::from_utf8_lossy(&line[colon + 1..]);
            let kilobytes = amount.trim().strip_suffix(" kB").and_then(|amount| amount.parse::<u64>().ok());
            // An amount in another format counts as the largest one, not as none.
            let bytes = kilobytes.map_or(u64::MAX, |amount| amount.saturating_mul(KILOBYTE));
            all = Some(all.unwrap_or(0_u64).saturating_add(bytes));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_status_is_parsed() {
        let check = |status: &[u8], expected: Option<u64>| assert_eq!(parse(status), expected, "{status:?}");
        check(
            b"Name:\tsh\nVmPTE:\t      44 kB\nRssAnon:\t     100 kB\nRssFile:\t    9 kB\nVmSwap:\t 1 kB\n",
            Some(145 << 10),
        );
        check(b"Name:\t\xff\\nRssAnon: 1 kB\nRssAnon:\t     100 kB\n", Some(100 << 10));
        check(b"Name:\tsh\nState:\tZ (zombie)\nThreads:\t2\n", None);
        check(b"RssAnon:\t? kB\n", Some(u64::MAX));
    }
}
