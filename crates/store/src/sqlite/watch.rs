//! Detects that the files that the server writes to are no longer the ones that its next start will find.
//!
//! An open file outlives its name. When the database or its log is moved, deleted, replaced or
//! truncated, SQLite continues to write to the open file, and everything that is acknowledged from
//! then on is lost when the process ends. So the open files are compared with those found under
//! their names before each group of writes, and again before the group is acknowledged. It costs a
//! few system calls per group, which is negligible compared to its fsync.

use super::claim::{Claim, FileId, sibling_path};
use super::log_guard::LogGuard;
use crate::StoreError;
use crate::sql::{LocalConnection, LogState};
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The minimum size of a database in bytes: one page of the smallest size.
const SMALLEST: u64 = 512;

/// The sizes of the headers of a log and of each page in it, in bytes.
pub(super) const LOG_HEADER: u64 = 32;
pub(super) const FRAME_HEADER: u64 = 24;

/// The offset of the 8-byte salt in the header of a log.
const LOG_SALT: u64 = 16;

/// How often a log that seems too short is checked: another process may have reset it, or written
/// to it, between two reads.
const LOOKS: u32 = 5;

/// The number of checks for a checkpoint of another process, which writes to the database first and
/// is recorded in the log's index last.
const CHECKPOINT_LOOKS: u32 = 200;
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(10);

/// From this number of pages in the log on, SQLite tries a checkpoint after each commit. A failed
/// one, on a full disk for example, has written to the database without being recorded. See
/// <https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint>.
const AUTO_CHECKPOINT: u64 = 1000;

/// Watches the files of an open database.
pub(crate) struct FileWatch {
    claim: Arc<Claim>,
    /// The path as it was opened; may be a symbolic link.
    database: PathBuf,
    log: WatchedFile,
    log_file: File,
    log_guard: LogGuard,
    index: WatchedFile,
    page_size: u64,
    /// The size of the database at the last check, in bytes.
    size: u64,
    last_write: LastWrite,
    fault: Option<FileFault>,
}

/// The time of the last write to the database, and the checkpoint that explains it. Between two
/// checkpoints, SQLite writes to the log only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastWrite {
    /// Seconds and nanoseconds since 1970.
    time: (i64, i64),
    checkpoint: Checkpoint,
}

/// A value that changes with each checkpoint that writes to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Checkpoint {
    /// The number of pages of the log that are checkpointed.
    copied: u64,
    /// Changes each time the log is restarted; 0 while it is empty.
    salt: u64,
}

/// A path, and the file that SQLite found there.
struct WatchedFile {
    path: PathBuf,
    id: FileId,
}

/// A fault of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileFault {
    kind: FaultKind,
    /// For the operator: which file is affected, and what happened to it.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultKind {
    /// The database is no longer found at its path.
    Database,
    /// The log is no longer found at its path.
    Log,
    /// The index of the log is no longer found at its path, so that other processes do not see this one's locks.
    Index,
    /// A file was truncated: its content is unreliable even if its size is right again.
    Truncated,
    /// Something other than SQLite wrote to the database: its pages no longer match those of the log.
    Overwritten,
    /// Something other than SQLite wrote to the log.
    LogOverwritten,
    /// A file cannot be accessed.
    Inaccessible,
}

impl FileWatch {
    /// Starts watching. `connection` must have read from the database, so that SQLite has its files open.
    pub(super) fn start(claim: Arc<Claim>, path: &Path, connection: &LocalConnection) -> Result<Self, StoreError> {
        let cannot = |error: std::io::Error| StoreError::Open(format!("its files cannot be watched: {error}"));
        let real = fs::canonicalize(path).map_err(cannot)?;
        let named = |suffix: &str| {
            let path = sibling_path(&real, suffix);
            let id = FileId::from_metadata(&path.metadata()?);
            Ok(WatchedFile { path, id })
        };
        let (log, index) = (named("-wal").map_err(cannot)?, named("-shm").map_err(cannot)?);
        // SQLite has no locks on the log that closing this handle could drop.
        let log_file = File::open(&log.path).map_err(cannot)?;
        let log_guard = LogGuard::new(&log_file.metadata().map_err(cannot)?);
        let page_size = connection.number("PRAGMA page_size")?.cast_unsigned();
        let checkpoint = Checkpoint::read(&log_file, connection.log_state("NOOP")?);
        let found = claim.database().metadata().map_err(cannot)?;
        let last_write = LastWrite { time: time_of(&found), checkpoint };
        let size = found.len();
        let database = path.to_owned();
        Ok(Self { claim, database, log, log_file, log_guard, index, page_size, size, last_write, fault: None })
    }

    /// Checks that a restart will find what is written now; `has_committed` says that a transaction
    /// has just written to the log. Logs an error for the operator when the result changes.
    ///
    /// # Errors
    /// [`StoreError::FileLost`].
    pub(super) fn check(&mut self, connection: &LocalConnection, has_committed: bool) -> Result<(), StoreError> {
        if let Some(fault) = self.fault.as_ref().filter(|fault| fault.kind.is_lasting()) {
            return Err(StoreError::FileLost(fault.text.clone()));
        }
        let found = self.check_files(connection, has_committed);
        let before = std::mem::replace(&mut self.fault, found.clone().err());
        match found {
            Ok(()) => {
                if before.is_some() {
                    tracing::warn!(database = %self.database.display(), "the database's files are back; writing continues");
                }
                Ok(())
            }
            Err(fault) => {
                if before.is_none_or(|before| before.kind != fault.kind) {
                    let advice = self.advice(&fault, connection);
                    tracing::error!("{}; nothing is saved until this is fixed. {advice}", fault.text);
                }
                Err(StoreError::FileLost(fault.text))
            }
        }
    }

    /// Returns whether closing the database must leave its log unchanged.
    pub(super) fn must_keep_log(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.kind.is_lasting() || fault.kind == FaultKind::Index)
    }

    fn check_files(&mut self, connection: &LocalConnection, has_committed: bool) -> Result<(), FileFault> {
        let database = check_identity(FaultKind::Database, &self.database, self.claim.id(), self.claim.database())?;
        self.check_size(database.len())?;
        let log = check_identity(FaultKind::Log, &self.log.path, self.log.id, &self.log_file)?;
        let state = self.check_log(log, connection)?;
        self.check_log_content(has_committed, connection)?;
        self.check_last_write(time_of(&database), state, connection)?;
        match self.index.path.metadata() {
            Ok(index) if FileId::from_metadata(&index) == self.index.id => Ok(()),
            Ok(_) => Err(replaced(FaultKind::Index, &self.index.path)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(gone(FaultKind::Index, &self.index.path, "deleted"))
            }
            Err(error) => Err(unknown(&self.index.path, &error)),
        }
    }

    /// A database shrinks when another process runs `VACUUM`; its header has the new size then.
    fn check_size(&mut self, size: u64) -> Result<(), FileFault> {
        let is_whole = size >= SMALLEST && (size >= self.size || size >= self.size_in_header());
        self.size = size;
        if is_whole { Ok(()) } else { Err(cut(&self.database, size)) }
    }

    /// Returns the size according to the header, in bytes. See
    /// <https://www.sqlite.org/fileformat.html#the_database_header>.
    fn size_in_header(&self) -> u64 {
        let mut header = [0; 32];
        let is_read = self.claim.database().read_exact_at(&mut header, 0).is_ok();
        if !is_read || !header.starts_with(b"SQLite format 3\0") {
            return u64::MAX;
        }
        let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
        u64::from(pages) * self.page_size
    }

    /// Checks that the log has everything that SQLite expects in it. See
    /// <https://www.sqlite.org/walformat.html>.
    fn check_log(&self, mut log: Metadata, connection: &LocalConnection) -> Result<LogState, FileFault> {
        let path = &self.log.path;
        for _ in 0..LOOKS {
            let state = connection.log_state("NOOP").map_err(|error| unknown(path, &error))?;
            let frames = state.frames;
            let expected = if frames == 0 { 0 } else { LOG_HEADER + frames * (FRAME_HEADER + self.page_size) };
            // A log that was truncated and then written to has zeros at its beginning.
            let has_head = frames == 0 || self.has_log_head();
            if log.len() >= expected && has_head {
                return Ok(state);
            }
            log = self.log_file.metadata().map_err(|error| unknown(path, &error))?;
        }
        Err(cut(path, log.len()))
    }

    fn check_log_content(&mut self, has_committed: bool, connection: &LocalConnection) -> Result<(), FileFault> {
        let path = &self.log.path;
        match self.log_guard.is_intact(&self.log_file, self.page_size, has_committed, connection) {
            Ok(true) => Ok(()),
            Ok(false) => Err(overwritten(FaultKind::LogOverwritten, path)),
            Err(error) => Err(unknown(path, &error)),
        }
    }

    /// Only checkpoints write to the database: any other write is by a program that ignores the
    /// log, such as `cp`.
    fn check_last_write(
        &mut self,
        time: (i64, i64),
        state: LogState,
        connection: &LocalConnection,
    ) -> Result<(), FileFault> {
        let seen = LastWrite { time, checkpoint: Checkpoint::read(&self.log_file, state) };
        let is_explained = time == self.last_write.time
            || seen.checkpoint != self.last_write.checkpoint
            || state.frames >= AUTO_CHECKPOINT
            || self.is_checkpointed_soon(connection)?;
        if is_explained {
            self.last_write = seen;
            return Ok(());
        }
        Err(overwritten(FaultKind::Overwritten, &self.database))
    }

    /// Returns whether another process completes a checkpoint soon.
    fn is_checkpointed_soon(&self, connection: &LocalConnection) -> Result<bool, FileFault> {
        for _ in 0..CHECKPOINT_LOOKS {
            std::thread::sleep(CHECKPOINT_PAUSE);
            let state = connection.log_state("NOOP").map_err(|error| unknown(&self.log.path, &error))?;
            if Checkpoint::read(&self.log_file, state) != self.last_write.checkpoint {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_log_head(&self) -> bool {
        let mut magic = [0; 4];
        self.log_file.read_exact_at(&mut magic, 0).is_ok() && matches!(u32::from_be_bytes(magic) | 1, 0x377f_0683)
    }

    /// Saves what it can, and returns instructions for the operator.
    fn advice(&self, fault: &FileFault, connection: &LocalConnection) -> String {
        let (database, log) = (self.database.display(), self.log.path.display());
        match fault.kind {
            FaultKind::Log => match fold(connection) {
                Ok(()) => format!(
                    "The content of {log} was copied into {database}, so no acknowledged data is lost. Restart the server"
                ),
                Err(error) => format!(
                    "The content of {log} could not be copied into {database} ({error}). Put the file back if it was moved; \
                     otherwise stop the server with SIGTERM, which tries again"
                ),
            },
            FaultKind::Database => {
                let folded = fold(connection);
                let is_deleted = self.claim.database().metadata().is_ok_and(|file| file.nlink() == 0);
                let (id, handle) = (std::process::id(), self.claim.database().as_raw_fd());
                match (is_deleted, folded) {
                    (true, Ok(())) => format!(
                        "All acknowledged data is in the open file until the server stops. To keep it, copy it now \
                         (`cp /proc/{id}/fd/{handle} COPY`), stop the server, and put the copy at {database}"
                    ),
                    (false, Ok(())) => format!(
                        "All acknowledged data is in the moved file. Move it back to {database}, and writing continues; or \
                         restart the server to use the file that is there now"
                    ),
                    (_, Err(error)) => format!(
                        "Its log {log} could not be copied into it ({error}); before the server stops, copy the open files of \
                         process {id} from /proc/{id}/fd"
                    ),
                }
            }
            FaultKind::Index => "No acknowledged data is lost. Restart the server".to_owned(),
            FaultKind::Overwritten => format!(
                "Its content is lost. Stop the server, delete {log} and {log_index}, and put the database that is to be used \
                 at {database} again: with the old log, the next start would mix both",
                log_index = self.index.path.display()
            ),
            FaultKind::LogOverwritten => {
                "Some of what was saved is lost. Stop the server, which leaves both files as they are, and restore a \
                 backup"
                    .to_owned()
            }
            FaultKind::Truncated => "Stop the server and restore a backup; the file's content may be lost".to_owned(),
            FaultKind::Inaccessible => "Check the disk and the permissions of the folder".to_owned(),
        }
    }
}

impl FaultKind {
    /// Returns whether the fault lasts until a restart.
    fn is_lasting(self) -> bool {
        matches!(self, Self::Truncated | Self::Overwritten | Self::LogOverwritten)
    }
}

impl Checkpoint {
    fn read(log: &File, state: LogState) -> Self {
        let mut salt = [0; 8];
        let salt = log.read_exact_at(&mut salt, LOG_SALT).map_or(0, |()| u64::from_be_bytes(salt));
        Self { copied: state.copied, salt }
    }
}

/// Checkpoints the log into the database, using the open files.
fn fold(connection: &LocalConnection) -> Result<(), String> {
    match connection.log_state("FULL") {
        Ok(log) if log.is_busy || log.copied < log.frames => Err("another process is using the database".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the time of the last write to a file, in seconds and nanoseconds since 1970.
pub(super) fn time_of(file: &Metadata) -> (i64, i64) {
    (file.mtime(), file.mtime_nsec())
}

/// Returns the metadata of the file at a path, if it is the open file.
fn check_identity(kind: FaultKind, path: &Path, id: FileId, open: &File) -> Result<Metadata, FileFault> {
    match path.metadata() {
        Ok(found) if FileId::from_metadata(&found) == id => Ok(found),
        Ok(_) => Err(replaced(kind, path)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let is_deleted = open.metadata().is_ok_and(|open| open.nlink() == 0);
            Err(gone(kind, path, if is_deleted { "deleted" } else { "moved away" }))
        }
        Err(error) => Err(unknown(path, &error)),
    }
}

fn gone(kind: FaultKind, path: &Path, how: &str) -> FileFault {
    FileFault { kind, text: format!("{} was {how} while the server had it open", path.display()) }
}

fn replaced(kind: FaultKind, path: &Path) -> FileFault {
    FileFault { kind, text: format!("{} was replaced by another file while the server had it open", path.display()) }
}

fn cut(path: &Path, size: u64) -> FileFault {
    let text = format!("{} was truncated to {size} bytes while the server had it open", path.display());
    FileFault { kind: FaultKind::Truncated, text }
}

fn overwritten(kind: FaultKind, path: &Path) -> FileFault {
    FileFault { kind, text: format!("{} was overwritten while the server had it open", path.display()) }
}

fn unknown(path: &Path, error: &dyn std::fmt::Display) -> FileFault {
    FileFault { kind: FaultKind::Inaccessible, text: format!("{} cannot be accessed: {error}", path.display()) }
}
