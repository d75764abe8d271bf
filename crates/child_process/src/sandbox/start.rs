//! Makes a sandbox, up to the command.

use super::{SandboxError, SandboxSettings, channel, folders};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{getpid, set_child_subreaper};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where bubblewrap is. The environment does not say it: a process that makes sandboxes has none.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];
/// The most time in which a sandbox is made.
const MAX_START: Duration = Duration::from_secs(20);
/// The bytes that are read of the messages of bubblewrap.
const MAX_ERRORS: u64 = 4_096;

/// A sandbox whose command has not been run.
pub struct Sandbox {
    pub(super) child: Child,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
    pub(super) folders: Vec<OwnedFd>,
    /// The `/proc` of the sandbox.
    pub(super) processes: OwnedFd,
    control: UnixStream,
    /// Where the first process says why it cannot become the command. It ends when it does.
    failure: PipeReader,
}

impl Sandbox {
    /// Makes a sandbox. `arguments` are those with which this program calls [`run_confined`](super::run_confined).
    ///
    /// # Errors
    /// This machine cannot make it.
    pub fn prepare(settings: &SandboxSettings, arguments: &[OsString]) -> Result<Self, SandboxError> {
        let bubblewrap = PLACES.into_iter().find(|path| Path::new(path).is_file());
        let Some(bubblewrap) = bubblewrap else { return Err(SandboxError::NoBubblewrap(PLACES.join(", "))) };
        // Processes of the sandbox whose parents have ended become children of this one, which waits for all.
        set_child_subreaper(Some(getpid())).map_err(io::Error::from)?;
        // The sandbox does not have the file of this program, and it may have been replaced.
        let program = File::open("/proc/self/exe")?;
        fcntl_setfd(&program, FdFlags::empty()).map_err(io::Error::from)?;
        let (control, theirs) = UnixStream::pair()?;
        control.set_read_timeout(Some(MAX_START))?;
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        // bubblewrap keeps the socket open, but does not know this pipe.
        let (failure, their_failure) = io::pipe()?;
        let mut child = Command::new(bubblewrap)
            .args(folders::arguments(settings))
            .arg("--")
            .arg(format!("/proc/self/fd/{}", program.as_raw_fd()))
            .args(arguments)
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let described = serde_json::to_vec(settings).map_err(io::Error::from)?;
        let files = [their_stdout.as_fd(), their_stderr.as_fd(), their_failure.as_fd()];
        let begun = channel::send(&control, &described, &files).and_then(|()| channel::receive(&control));
        let Ok((_, mut folders)) = begun else { return Err(failed(&mut child)) };
        let is_whole = folders.len() == settings.folders.len() + 1;
        let Some(processes) = folders.pop().filter(|_| is_whole) else { return Err(failed(&mut child)) };
        Ok(Self { child, stdout, stderr, folders, processes, control, failure })
    }

    /// Returns a folder by its index in the settings.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn folder(&self, index: usize) -> BorrowedFd<'_> {
        self.folders[index].as_fd()
    }

    /// Lets the first process become the command.
    pub(super) fn begin(&mut self) -> Result<(), SandboxError> {
        channel::send(&self.control, &[], &[])?;
        let mut failure = Vec::new();
        (&self.failure).take(MAX_ERRORS).read_to_end(&mut failure)?;
        match serde_json::from_slice::<Failure>(&failure) {
            Err(_) if failure.is_empty() => Ok(()),
            Ok(Failure::Landlock(reason)) => Err(SandboxError::Landlock(reason)),
            Ok(Failure::Filter(reason)) => Err(SandboxError::Filter(reason)),
            Ok(Failure::NoProgram(names)) => Err(SandboxError::NoProgram(names)),
            Ok(Failure::System(reason)) => Err(io::Error::other(reason).into()),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

/// A failure of the first process, as it is sent.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Failure {
    Landlock(String),
    Filter(String),
    NoProgram(String),
    System(String),
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Landlock(reason) => Self::Landlock(reason),
            SandboxError::Filter(reason) => Self::Filter(reason),
            SandboxError::NoProgram(names) => Self::NoProgram(names),
            other => Self::System(other.to_string()),
        }
    }
}

/// Returns why there are no namespaces.
fn failed(child: &mut Child) -> SandboxError {
    let _ = child.kill();
    let mut errors = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MAX_ERRORS).read_to_end(&mut errors);
    }
    let _ = child.wait();
    let errors = String::from_utf8_lossy(&errors);
    let reason = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    SandboxError::Namespaces(reason.trim_start_matches("bwrap: ").to_owned())
}
