//! Limits that a process sets for itself.

pub use rustix::process::Resource;

use rustix::process::{Rlimit, getrlimit, setrlimit};
use std::io;

/// The niceness of child processes, so that the threads of the server have precedence.
const NICENESS: i32 = 10;

/// Sets a limit of this process and of those that it starts. It cannot be raised again.
///
/// # Errors
/// The system refuses it.
pub fn set_limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    // Only a privileged process can raise a limit that it was given.
    let within = |most: u64| Some(getrlimit(resource).maximum.map_or(most, |given| given.min(most)));
    Ok(setrlimit(resource, Rlimit { current: within(soft), maximum: within(hard) })?)
}

/// Lets the threads of the server have precedence over this process. A system that refuses it runs the process all the
/// same. Where the kernel schedules sessions as groups (autogroups), niceness counts only within the session.
pub fn lower_precedence() {
    let _ = rustix::process::nice(NICENESS);
}
