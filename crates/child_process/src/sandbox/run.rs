//! Runs the command of a sandbox to its end.

use super::output::{Output, Written};
use super::usage::Usage;
use super::{Sandbox, SandboxError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

/// The interval in which the used resources are measured.
const TICK: Duration = Duration::from_millis(40);
/// The exit code of a process that a signal has ended is this and the number of the signal, as in shells.
const SIGNALLED: i32 = 128;

/// The bounds of all processes of a sandbox together.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The time of the command.
    pub time: Duration,
    /// The memory of all processes in bytes. Their files are not counted: the folders have sizes.
    pub memory_bytes: u64,
    /// The files and folders in all folders.
    pub nodes: u64,
    /// The bytes that are kept of each kind of output.
    pub output_bytes: usize,
}

/// How a command has ended. Nothing of it runs any more.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    Exited {
        /// The exit code; 128 and the number of the signal if it was ended by one.
        code: i32,
        /// Its standard output.
        stdout: Written,
        /// Its standard error.
        stderr: Written,
    },
    /// It took longer than it may.
    TimedOut,
    /// Its processes used more memory than they may.
    OutOfMemory,
    /// It made more files and folders than it may.
    TooManyFiles,
}

impl Sandbox {
    /// Runs the command, and returns when neither it nor anything that it has started runs any more. `watch` is called
    /// several times a second with the latest output to standard output, and to standard error.
    ///
    /// # Errors
    /// The command cannot be started, or the system fails. Then nothing runs either.
    pub fn run(&mut self, bounds: Bounds, mut watch: impl FnMut(&Output, &Output)) -> Result<Ended, SandboxError> {
        let ended = self.run_to_end(bounds, &mut watch);
        self.end()?;
        ended
    }

    fn run_to_end(&mut self, bounds: Bounds, watch: &mut dyn FnMut(&Output, &Output)) -> Result<Ended, SandboxError> {
        let deadline = Instant::now() + bounds.time;
        self.begin()?;
        let stdout = Output::read(self.stdout.try_clone()?, bounds.output_bytes)?;
        let stderr = Output::read(self.stderr.try_clone()?, bounds.output_bytes)?;
        let ending = pidfd_open(self.main_process()?, PidfdFlags::empty()).map_err(io::Error::from)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ended::TimedOut);
            }
            wait_for(&ending, left.min(TICK))?;
            if let Some(status) = self.child.try_wait()? {
                // Processes that it has left running may have the output open.
                self.end()?;
                // `bwrap` ends with the code of the command.
                let code = status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or_default());
                return Ok(Ended::Exited { code, stdout: stdout.finish(), stderr: stderr.finish() });
            }
            let used = Usage::of(&self.processes, &self.folders);
            if used.memory_bytes > bounds.memory_bytes {
                return Ok(Ended::OutOfMemory);
            }
            if used.nodes > bounds.nodes {
                return Ok(Ended::TooManyFiles);
            }
            watch(&stdout, &stderr);
        }
    }

    /// Ends everything in the sandbox, and waits until it has.
    fn end(&mut self) -> io::Result<()> {
        // The first process of the sandbox ends with it, and all others with that one.
        let _ = self.child.kill();
        self.child.wait()?;
        loop {
            match waitpid(None, WaitOptions::empty()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::CHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn main_process(&self) -> io::Result<Pid> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        id.ok_or_else(|| io::Error::other("the process has no number"))
    }
}

/// Waits until a process has ended, or for this long.
fn wait_for(process: &OwnedFd, most: Duration) -> io::Result<()> {
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&most)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
