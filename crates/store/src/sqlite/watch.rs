//! Whether the files that the server writes to are still the ones that its next start will find.
//!
//! An open file outlives its name. When the database or its log is moved, deleted, replaced or cut, SQLite goes on to write to what
//! it has open, and everything that is acknowledged from then on is gone with the process. So the files are compared with what is
//! found under their names before each group of writes and again before the group is acknowledged. It costs a few system calls for
//! each group, nothing beside its fsync.

use super::claim::{Claim, FileId, beside};
use crate::StoreError;
use crate::sql::{Local, LogState};
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A database is at least one page, and a page is not smaller, in bytes.
const SMALLEST: u64 = 512;

/// The headers of a log and of each page in it, in bytes.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Where the salt is in the header of a log, 8 bytes.
const LOG_SALT: u64 = 16;

/// How often a log that seems too short is looked at: another process may have emptied it in order, or have written to it,
/// between two looks.
const LOOKS: u32 = 5;

/// How long another process may take for a checkpoint, which writes to the database first and is recorded in the log's index last.
const CHECKPOINT_LOOKS: u32 = 200;
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(10);

/// From this many pages in the log on, SQLite tries a checkpoint after each commit. One that fails, on a full disk for example,
/// has written to the database and is not recorded. See <https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint>.
const AUTO_CHECKPOINT: u64 = 1000;

/// The files of an open database.
pub(crate) struct Watch {
    claim: Arc<Claim>,
    /// As it was opened, which may be a symbolic link.
    database: PathBuf,
    log: Named,
    log_file: File,
    index: Named,
    page_size: u64,
    /// How large the database was when it was last looked at.
    size: u64,
    last_write: LastWrite,
    fault: Option<Fault>,
}

/// When the database was last written to, and what the log said then. Between two checkpoints, SQLite writes to the log only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastWrite {
    /// Seconds and nanoseconds since 1970.
    time: (i64, i64),
    checkpoint: Checkpoint,
}

/// Changes with each checkpoint that wrote to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Checkpoint {
    /// How many pages of the log are in the database, too.
    copied: u64,
    /// Differs each time that the log is begun anew; 0 while it is empty.
    salt: u64,
}

/// A name, and the file that SQLite found under it.
struct Named {
    path: PathBuf,
    id: FileId,
}

/// What is wrong with the files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    kind: Kind,
    /// For the operator: which file, and what happened to it.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The database is no longer found under its name.
    Database,
    /// Its log is not.
    Log,
    /// The index of the log is not, so that other processes do not see this one's locks.
    Index,
    /// A file was cut: what it holds cannot be relied on even when its size is right again.
    Cut,
    /// Something other than SQLite wrote to the database: its pages and those of the log do not belong together any more.
    Overwritten,
    /// It cannot be looked at.
    Unknown,
}

impl Watch {
    /// Begins to watch. `connection` must have read from the database, so that SQLite has its files open.
    pub(super) fn start(claim: Arc<Claim>, path: &Path, connection: &Local) -> Result<Self, StoreError> {
        let cannot = |error: std::io::Error| StoreError::Open(format!("its files cannot be watched: {error}"));
        let real = fs::canonicalize(path).map_err(cannot)?;
        let named = |suffix: &str| {
            let path = beside(&real, suffix);
            let id = FileId::of(&path.metadata()?);
            Ok(Named { path, id })
        };
        let (log, index) = (named("-wal").map_err(cannot)?, named("-shm").map_err(cannot)?);
        // SQLite has no locks on the log that closing this could drop.
        let log_file = File::open(&log.path).map_err(cannot)?;
        let page_size = connection.number("PRAGMA page_size")?.cast_unsigned();
        let checkpoint = Checkpoint::read(&log_file, connection.log_state("NOOP")?);
        let found = claim.database().metadata().map_err(cannot)?;
        let last_write = LastWrite { time: time_of(&found), checkpoint };
        let size = found.len();
        Ok(Self { claim, database: path.to_owned(), log, log_file, index, page_size, size, last_write, fault: None })
    }

    /// Whether what is written now is found after a restart. The operator is told when this changes.
    ///
    /// # Errors
    /// [`StoreError::FileLost`].
    pub(super) fn check(&mut self, connection: &Local) -> Result<(), StoreError> {
        if let Some(fault) = self.fault.as_ref().filter(|fault| fault.kind.is_lasting()) {
            return Err(StoreError::FileLost(fault.text.clone()));
        }
        let found = self.look(connection);
        let before = std::mem::replace(&mut self.fault, found.clone().err());
        match found {
            Ok(()) => {
                if before.is_some() {
                    tracing::warn!(database = %self.database.display(), "the database's files are back; writing goes on");
                }
                Ok(())
            }
            Err(fault) => {
                if before.is_none_or(|before| before.kind != fault.kind) {
                    let advice = self.advice(&fault, connection);
                    tracing::error!("{}; nothing is saved until this is put right. {advice}", fault.text);
                }
                Err(StoreError::FileLost(fault.text))
            }
        }
    }

    /// Whether closing the database must leave its log alone.
    pub(super) fn must_keep_log(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.kind.is_lasting() || fault.kind == Kind::Index)
    }

    fn look(&mut self, connection: &Local) -> Result<(), Fault> {
        let database = found(Kind::Database, &self.database, self.claim.id(), self.claim.database())?;
        self.check_size(database.len())?;
        let log = found(Kind::Log, &self.log.path, self.log.id, &self.log_file)?;
        let state = self.check_log(log, connection)?;
        self.check_last_write(time_of(&database), state, connection)?;
        match self.index.path.metadata() {
            Ok(index) if FileId::of(&index) == self.index.id => Ok(()),
            Ok(_) => Err(replaced(Kind::Index, &self.index.path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(gone(Kind::Index, &self.index.path, "deleted")),
            Err(error) => Err(unknown(&self.index.path, &error)),
        }
    }

    /// A database becomes smaller when another process runs `VACUUM`; its header has the new size then.
    fn check_size(&mut self, size: u64) -> Result<(), Fault> {
        let is_whole = size >= SMALLEST && (size >= self.size || size >= self.size_in_header());
        self.size = size;
        if is_whole { Ok(()) } else { Err(cut(&self.database, size)) }
    }

    /// See <https://www.sqlite.org/fileformat.html#the_database_header>.
    fn size_in_header(&self) -> u64 {
        let mut header = [0; 32];
        let is_read = self.claim.database().read_exact_at(&mut header, 0).is_ok();
        if !is_read || !header.starts_with(b"SQLite format 3\0") {
            return u64::MAX;
        }
        let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
        u64::from(pages) * self.page_size
    }

    /// The log has all that SQLite says is in it. See <https://www.sqlite.org/walformat.html>.
    fn check_log(&self, mut log: Metadata, connection: &Local) -> Result<LogState, Fault> {
        let path = &self.log.path;
        for _ in 0..LOOKS {
            let state = connection.log_state("NOOP").map_err(|error| unknown(path, &error))?;
            let frames = state.frames;
            let expected = if frames == 0 { 0 } else { LOG_HEADER + frames * (FRAME_HEADER + self.page_size) };
            // Written on into a log that was cut, its beginning is empty.
            let has_head = frames == 0 || self.has_log_head();
            if log.len() >= expected && has_head {
                return Ok(state);
            }
            log = self.log_file.metadata().map_err(|error| unknown(path, &error))?;
        }
        Err(cut(path, log.len()))
    }

    /// Only checkpoints write to the database: a write without one is somebody's who does not know of the log, `cp` for example.
    fn check_last_write(&mut self, time: (i64, i64), state: LogState, connection: &Local) -> Result<(), Fault> {
        let seen = LastWrite { time, checkpoint: Checkpoint::read(&self.log_file, state) };
        let is_explained = time == self.last_write.time
            || seen.checkpoint != self.last_write.checkpoint
            || state.frames >= AUTO_CHECKPOINT
            || self.is_checkpointed_soon(connection)?;
        if is_explained {
            self.last_write = seen;
            return Ok(());
        }
        let text = format!("{} was overwritten while the server has it open", self.database.display());
        Err(Fault { kind: Kind::Overwritten, text })
    }

    /// Whether another process is in the middle of a checkpoint.
    fn is_checkpointed_soon(&self, connection: &Local) -> Result<bool, Fault> {
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

    /// Saves what can be saved, and says what to do.
    fn advice(&self, fault: &Fault, connection: &Local) -> String {
        let (database, log) = (self.database.display(), self.log.path.display());
        match fault.kind {
            Kind::Log => match fold(connection) {
                Ok(()) => format!(
                    "What {log} held was copied into {database}, so nothing that was acknowledged is lost. Restart the server"
                ),
                Err(error) => format!(
                    "What {log} held could not be copied into {database} ({error}). Put the file back if it was moved; \
                     otherwise stop the server with SIGTERM, which tries again"
                ),
            },
            Kind::Database => {
                let folded = fold(connection);
                let is_deleted = self.claim.database().metadata().is_ok_and(|file| file.nlink() == 0);
                let (id, handle) = (std::process::id(), self.claim.database().as_raw_fd());
                match (is_deleted, folded) {
                    (true, Ok(())) => format!(
                        "All that was acknowledged is in the open file until the server stops. To keep it, copy it now \
                         (`cp /proc/{id}/fd/{handle} COPY`), stop the server, and put the copy at {database}"
                    ),
                    (false, Ok(())) => format!(
                        "All that was acknowledged is in the moved file. Move it back to {database}, and writing goes on; or \
                         restart the server to use what is there"
                    ),
                    (_, Err(error)) => format!(
                        "Its log {log} could not be copied into it ({error}); before the server stops, copy the open files of \
                         process {id} from /proc/{id}/fd"
                    ),
                }
            }
            Kind::Index => "Nothing that was acknowledged is lost. Restart the server".to_owned(),
            Kind::Overwritten => format!(
                "What it held is lost. Stop the server, delete {log} and {log_index}, and put the database that is to be used \
                 at {database} again: with that log, its next start would mix both",
                log_index = self.index.path.display()
            ),
            Kind::Cut => "Stop the server and restore a backup; what the file held may be lost".to_owned(),
            Kind::Unknown => "Look at the disk and the permissions of its folder".to_owned(),
        }
    }
}

impl Kind {
    /// Whether only a restart can end it.
    fn is_lasting(self) -> bool {
        matches!(self, Self::Cut | Self::Overwritten)
    }
}

impl Checkpoint {
    fn read(log: &File, state: LogState) -> Self {
        let mut salt = [0; 8];
        let salt = log.read_exact_at(&mut salt, LOG_SALT).map_or(0, |()| u64::from_be_bytes(salt));
        Self { copied: state.copied, salt }
    }
}

/// Copies what is in the log into the database, both as this process has them open.
fn fold(connection: &Local) -> Result<(), String> {
    match connection.log_state("FULL") {
        Ok(log) if log.is_busy || log.copied < log.frames => Err("another process is using the database".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn time_of(file: &Metadata) -> (i64, i64) {
    (file.mtime(), file.mtime_nsec())
}

/// What is found under a name, if it is the file that is open.
fn found(kind: Kind, path: &Path, id: FileId, open: &File) -> Result<Metadata, Fault> {
    match path.metadata() {
        Ok(found) if FileId::of(&found) == id => Ok(found),
        Ok(_) => Err(replaced(kind, path)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let is_deleted = open.metadata().is_ok_and(|open| open.nlink() == 0);
            Err(gone(kind, path, if is_deleted { "deleted" } else { "moved away" }))
        }
        Err(error) => Err(unknown(path, &error)),
    }
}

fn gone(kind: Kind, path: &Path, how: &str) -> Fault {
    Fault { kind, text: format!("{} was {how} while the server has it open", path.display()) }
}

fn replaced(kind: Kind, path: &Path) -> Fault {
    Fault { kind, text: format!("{} was replaced by another file while the server has it open", path.display()) }
}

fn cut(path: &Path, size: u64) -> Fault {
    let text = format!("{} was cut to {size} bytes while the server has it open", path.display());
    Fault { kind: Kind::Cut, text }
}

fn unknown(path: &Path, error: &dyn std::fmt::Display) -> Fault {
    Fault { kind: Kind::Unknown, text: format!("{} cannot be looked at: {error}", path.display()) }
}
