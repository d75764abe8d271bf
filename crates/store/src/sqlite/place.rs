//! Checks the location of a database file. SQLite keeps the latest commits in `PATH-wal` and its
//! locks in `PATH-shm`: processes that open the database by different names, or from different
//! machines, do not share these two files and damage the database.

use crate::StoreError;
use std::fs;
use std::path::Path;

/// Checks that a file can be served from its location.
///
/// # Errors
/// [`StoreError::Open`] with what to do.
pub(crate) fn check_location(path: &Path) -> Result<(), StoreError> {
    check_names(path)?;
    check_file_system(path)
}

/// Refuses a file that has several names or is itself a mount.
///
/// # Errors
/// [`StoreError::Open`] with what to do.
pub(super) fn check_names(path: &Path) -> Result<(), StoreError> {
    // Opening a missing file reports a better error.
    let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
    let Ok(found) = real.metadata() else { return Ok(()) };
    check_links(links(&found))?;
    if is_mount(&real) {
        Err(StoreError::Open(
            "the file itself is a mount, so its `-wal` and `-shm` would stay behind; mount its folder".to_owned(),
        ))
    } else {
        Ok(())
    }
}

fn check_links(names: u64) -> Result<(), StoreError> {
    if names < 2 {
        return Ok(());
    }
    Err(StoreError::Open(format!(
        "the file has {names} names (hard links), each with a `-wal` of its own; remove the others, or serve a copy"
    )))
}

#[cfg(unix)]
fn links(file: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

/// Returns whether the file itself is a mount, as with `docker run --volume FILE:FILE`.
#[cfg(target_os = "linux")]
fn is_mount(file: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    // Linux before 5.8 does not return mount ids.
    let mount = |path: &Path| {
        let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
        StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID).then_some(found.stx_mnt_id)
    };
    let folder = file.parent().and_then(mount);
    folder.is_some() && mount(file).is_some_and(|own| Some(own) != folder)
}

#[cfg(not(target_os = "linux"))]
fn is_mount(_: &Path) -> bool {
    false
}

/// Refuses network file systems, and warns of file systems that may be shared over a network.
///
/// # Errors
/// [`StoreError::Open`] with what to do.
fn check_file_system(path: &Path) -> Result<(), StoreError> {
    match sharing_of(path) {
        Sharing::Local => Ok(()),
        Sharing::Unknown(name) => {
            tracing::warn!(
                "the database is on {name}, where locks may not reach other machines; make sure that no other server opens it"
            );
            Ok(())
        }
        Sharing::Network(name) => Err(StoreError::Open(format!(
            "it is on {name}, a network file system, where SQLite's log does not work for more than one machine; use a local \
             disk, or PostgreSQL"
        ))),
    }
}

/// Returns whether a file is on a network file system. Some of these implement `flock` with the
/// locks that SQLite uses, so a database must not be locked there.
pub(super) fn is_on_network(path: &Path) -> bool {
    matches!(sharing_of(path), Sharing::Network(_))
}

#[cfg(target_os = "linux")]
fn sharing_of(path: &Path) -> Sharing {
    // The type's width and sign depend on the architecture; the lower half is the same on all.
    rustix::fs::statfs(path).map_or(Sharing::Local, |found| sharing(found.f_type as u32))
}

#[cfg(not(target_os = "linux"))]
fn sharing_of(_: &Path) -> Sharing {
    Sharing::Local
}

/// Whether other machines can open the files of a file system.
#[derive(Debug, PartialEq, Eq)]
enum Sharing {
    /// Only this machine can.
    Local,
    /// Depends on the configuration; the file system's name.
    Unknown(&'static str),
    Network(&'static str),
}

/// Classifies the file system types of `statfs(2)`.
fn sharing(file_system: u32) -> Sharing {
    match file_system {
        0x6969 => Sharing::Network("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Sharing::Network("SMB"),
        0x6b41_4653 | 0x5346_414f => Sharing::Network("AFS"),
        0x7375_7245 => Sharing::Network("Coda"),
        0x0102_1997 => Sharing::Unknown("9p"),
        0x6573_5546 => Sharing::Unknown("FUSE"),
        0x00c3_6400 => Sharing::Unknown("Ceph"),
        0x0bd0_0bd0 => Sharing::Unknown("Lustre"),
        0x0116_1970 => Sharing::Unknown("GFS2"),
        0x7461_636f => Sharing::Unknown("OCFS2"),
        0x786f_4256 => Sharing::Unknown("a VirtualBox shared folder"),
        _ => Sharing::Local,
    }
}

#[cfg(test)]
mod tests;
