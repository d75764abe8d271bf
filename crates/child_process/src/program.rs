//! How this program starts itself.

use rustix::process::geteuid;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user and group `nobody`.
const NOBODY: u32 = 65534;

/// Whether this program does not do the work of the processes that it starts.
static IS_DISABLED: AtomicBool = AtomicBool::new(false);

/// Lets no process of this program be started from now on, because it would not do the work of one. What
/// needs such a process fails.
pub fn disable_own_program() {
    IS_DISABLED.store(true, Ordering::Relaxed);
}

/// Returns the path with which this process starts its own program once more.
pub fn own_program() -> PathBuf {
    if IS_DISABLED.load(Ordering::Relaxed) {
        return PathBuf::from("/nonexistent/disabled");
    }
    // The link keeps its meaning when the file of the program is replaced by a new version.
    if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe().unwrap_or_default()
    }
}

/// Lets a command run as the user `nobody`, without other groups, if this process runs as root.
pub fn drop_privileges(command: &mut Command) {
    if geteuid().is_root() {
        // The standard library also leaves the other groups when it changes the user as root.
        command.gid(NOBODY).uid(NOBODY);
    }
}
