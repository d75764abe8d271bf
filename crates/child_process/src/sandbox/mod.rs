//! A sandbox for programs of the machine, on Linux.
//!
//! The process that calls [`Sandbox::prepare`] starts `bwrap`, which makes namespaces and folders and starts this
//! program once more, as the first process in them: it calls [`run_confined`]. That one opens the folders and sends
//! them back, so that files can be put into them before, and taken out of them after the command. Then it sets its
//! limits, restricts itself with Landlock and seccomp, and becomes the command.
//!
//! The caller must be a process of its own with one thread that starts sandboxes: everything in the sandbox ends when
//! that thread does, and [`Sandbox::run`] waits for all children of the process.

mod channel;
mod confined;
mod filter;
mod folders;
mod output;
mod run;
mod start;
pub mod tree;
mod usage;

pub use confined::run_confined;
pub use folders::shows;
pub use output::{Output, Written};
pub use run::{Bounds, Ended};
pub use start::Sandbox;

use serde::{Deserialize, Serialize};
use std::io;

/// A sandbox and its command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SandboxSettings {
    /// The folders that exist only in the sandbox, in memory.
    pub folders: Vec<MemoryFolder>,
    /// The folder in which the command runs, which must be one of them.
    pub current_folder: String,
    /// The programs of which the first one that exists is run, each with the arguments.
    pub programs: Vec<String>,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// All environment variables.
    pub environment: Vec<(String, String)>,
    /// The memory of a process in bytes, and the largest file.
    pub memory_bytes: u64,
    /// The processes and threads at once.
    pub processes: u64,
    /// The processor time of a process in seconds.
    pub cpu_seconds: u64,
}

/// A folder that exists only in the sandbox, in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemoryFolder {
    /// Its absolute path.
    pub path: String,
    /// The most bytes of its files.
    pub bytes: u64,
    /// Whether the command may change it.
    pub is_writable: bool,
}

/// Why there is no sandbox. The message is for the operator and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A program is missing.
    #[error("`bwrap` was not found in {0}: install bubblewrap, the package `bubblewrap` of most distributions")]
    NoBubblewrap(String),
    /// The namespaces cannot be made.
    #[error(
        "bubblewrap cannot make a sandbox ({0}): the machine or the container must allow unprivileged user namespaces, and \
         bubblewrap must be of version 0.8 or later"
    )]
    Namespaces(String),
    /// The kernel does not restrict access to files.
    #[error(
        "Landlock is not available ({0}): Linux 5.14 or later is needed, with `landlock` among the security modules in \
         /sys/kernel/security/lsm"
    )]
    Landlock(String),
    /// System calls cannot be filtered.
    #[error("system calls cannot be filtered ({0}): Linux with seccomp on x86-64, AArch64 or RISC-V is needed")]
    Filter(String),
    /// There is no program to run.
    #[error("there is none of the programs {0}")]
    NoProgram(String),
    /// The system fails.
    #[error("the sandbox fails: {0}")]
    System(#[from] io::Error),
}
