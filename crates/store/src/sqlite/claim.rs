//! The claim on a database file: the exclusive right of one process to serve it.
//!
//! The process holds `flock` on the database file itself, so the claim belongs to the file and not
//! to one of its names: a second process finds it held by the same path, a symbolic link, a hard
//! link or a bind mount in another container. These locks are separate from the `fcntl` locks of
//! SQLite, and the kernel releases them when the process ends, in whatever way. A notice file
//! beside the database names the process that holds the claim.

use crate::StoreError;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The pause between attempts to acquire the claim.
const RETRY: Duration = Duration::from_millis(50);

/// The maximum length of a notice in messages, in characters.
const MOST_NOTICE: usize = 300;

/// On other systems `flock` and `fcntl` are the same locks, and one on the database would lock
/// SQLite out. There the notice file is locked instead. Other names of the database file have other
/// notice files; `place::check_names` refuses files with several names.
const LOCKS_DATABASE: bool = cfg!(target_os = "linux");

/// A process that wants to serve a database.
#[derive(Clone, Debug)]
pub(crate) struct Claimant {
    /// A description of the process, such as since when it serves; may be empty.
    pub(crate) about: String,
    /// How long it waits for another process to release the claim.
    pub(crate) timeout: Duration,
}

/// The claim on a database file. Stores of the same process share it.
///
/// It must outlive every connection of the process to the file: closing any handle on a file drops
/// the locks that SQLite has on it in this process.
pub(crate) struct Claim {
    database: File,
    id: FileId,
    notice: PathBuf,
    /// The locked notice file, on systems where the database cannot be locked.
    _locked_notice: Option<File>,
}

/// Identifies a file while it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    #[cfg(unix)]
    pub(super) fn from_metadata(file: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device: file.dev(), inode: file.ino() }
    }
}

/// The outcome of an attempt.
enum ClaimAttempt {
    Acquired(Arc<Claim>),
    /// Another process holds it; the text of its notice.
    HeldBy(String),
}

/// The claims of this process.
static HELD: Mutex<Vec<(FileId, Weak<Claim>)>> = Mutex::new(Vec::new());

impl Claim {
    /// Acquires the claim on an existing file, waiting for another process to release it.
    ///
    /// # Errors
    /// [`StoreError::Open`]: another process keeps the claim, or the file cannot be locked.
    pub(super) async fn acquire(path: &Path, claimant: &Claimant) -> Result<Arc<Self>, StoreError> {
        let until = Instant::now() + claimant.timeout;
        let mut is_told = false;
        loop {
            match Self::attempt(path, &claimant.about)? {
                ClaimAttempt::Acquired(claim) => {
                    if is_told {
                        tracing::warn!(database = %path.display(), "the other server has ended; this one starts");
                    }
                    return Ok(claim);
                }
                ClaimAttempt::HeldBy(holder) if Instant::now() < until => {
                    if !is_told {
                        let seconds = claimant.timeout.as_secs();
                        tracing::warn!(
                            database = %path.display(), holder, seconds,
                            "another server has the database open; waiting for it to end"
                        );
                        is_told = true;
                    }
                    sleep(RETRY).await;
                }
                ClaimAttempt::HeldBy(holder) => {
                    return Err(StoreError::Open(format!(
                        "another server has it open ({holder}). A SQLite file belongs to one server: stop the other one, or \
                         use PostgreSQL for several servers"
                    )));
                }
            }
        }
    }

    /// Acquires the claim without waiting, for a command that works on the whole file.
    ///
    /// # Errors
    /// As [`Claim::acquire`].
    pub(super) fn try_acquire(path: &Path) -> Result<Arc<Self>, StoreError> {
        match Self::attempt(path, "a command")? {
            ClaimAttempt::Acquired(claim) => Ok(claim),
            ClaimAttempt::HeldBy(holder) => {
                Err(StoreError::Open(format!("a server has it open; stop it first ({holder})")))
            }
        }
    }

    /// Replaces the description of this process in the notice.
    pub(crate) fn announce(&self, about: &str) {
        // The notice only improves messages, so a failure is ignored.
        let _ = fs::write(&self.notice, describe_process(about));
    }

    pub(super) fn id(&self) -> FileId {
        self.id
    }

    /// Returns the database file. It must not be closed while the process has connections to it.
    pub(super) fn database(&self) -> &File {
        &self.database
    }

    fn attempt(path: &Path, about: &str) -> Result<ClaimAttempt, StoreError> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(_, claim)| claim.strong_count() > 0);
        let id = FileId::from_metadata(&fs::metadata(path).map_err(cannot_open)?);
        // Checked before the file is opened, because closing it again would drop the locks that
        // SQLite has on it.
        if let Some(claim) = held.iter().find(|(known, _)| *known == id).and_then(|(_, claim)| claim.upgrade()) {
            return Ok(ClaimAttempt::Acquired(claim));
        }
        let database = File::options().read(true).write(true).open(path).map_err(cannot_open)?;
        let notice = notice_of(&fs::canonicalize(path).map_err(cannot_open)?);
        let locked_notice = if LOCKS_DATABASE {
            None
        } else {
            let opened = File::options().read(true).write(true).create(true).truncate(false).open(&notice);
            Some(opened.map_err(cannot_open)?)
        };
        match locked_notice.as_ref().unwrap_or(&database).try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(ClaimAttempt::HeldBy(read_notice(&notice))),
            Err(TryLockError::Error(error)) => {
                let kind = error.kind();
                return Err(StoreError::Open(format!(
                    "its file system does not lock files ({kind}); use a local disk"
                )));
            }
        }
        // The file may have been replaced since it was opened.
        let id = FileId::from_metadata(&database.metadata().map_err(cannot_open)?);
        if fs::metadata(path).ok().map(|found| FileId::from_metadata(&found)) != Some(id) {
            return Ok(ClaimAttempt::HeldBy("the file is being replaced".to_owned()));
        }
        let claim = Arc::new(Self { database, id, notice, _locked_notice: locked_notice });
        claim.announce(about);
        held.push((id, Arc::downgrade(&claim)));
        Ok(ClaimAttempt::Acquired(claim))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // If the file was replaced, the notice may belong to the new file's server.
        let is_own = fs::read_to_string(&self.notice).is_ok_and(|text| text.starts_with(&describe_process("")));
        // Before dropping the file releases the lock, because the next process writes its own notice.
        let _ = if !is_own {
            Ok(())
        } else if LOCKS_DATABASE {
            fs::remove_file(&self.notice)
        } else {
            fs::write(&self.notice, "")
        };
    }
}

fn cannot_open(error: std::io::Error) -> StoreError {
    StoreError::Open(match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::NotFound => "there is no such file".to_owned(),
        kind => kind.to_string(),
    })
}

/// Returns the path of the notice file.
fn notice_of(database: &Path) -> PathBuf {
    sibling_path(database, "-server")
}

/// Returns the path of a file beside the database, which has the database's name and this suffix.
pub(super) fn sibling_path(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Describes this process.
fn describe_process(about: &str) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { String::new() } else { format!(" on {}", host.trim()) };
    let about = if about.is_empty() { String::new() } else { format!(", {about}") };
    format!("process {}{host}{about}", std::process::id())
}

fn read_notice(notice: &Path) -> String {
    let text = fs::read(notice).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line: String = text.chars().filter(|c| !c.is_control()).take(MOST_NOTICE).collect();
    // If the file was opened by another name, its notice has another path.
    if line.trim().is_empty() { "another process, which opened it by another name".to_owned() } else { line }
}
