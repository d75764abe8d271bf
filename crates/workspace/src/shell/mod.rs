//! Runs the commands of the tool `bash`.

mod changes;
#[cfg(target_os = "linux")]
mod container;
mod emulated;
mod files;
mod probe;
#[cfg(target_os = "linux")]
mod programs;
mod protocol;
mod script_shell;
mod turns;
mod warm;

#[cfg(test)]
mod escape_tests;
#[cfg(test)]
mod process_tests;
#[cfg(all(test, target_os = "linux"))]
mod sandbox_escape_tests;
#[cfg(all(test, target_os = "linux"))]
mod sandbox_memory_tests;
#[cfg(all(test, target_os = "linux"))]
mod sandbox_tests;

pub use self::emulated::run_script_process;
#[cfg(test)]
pub(crate) use self::process_tests::test_shell;
#[cfg(target_os = "linux")]
pub use self::programs::run_programs_process;
pub(crate) use self::script_shell::ScriptShell;
#[cfg(target_os = "linux")]
pub use child_process::sandbox::run_confined;

#[cfg(target_os = "linux")]
pub(crate) use self::container::probe_containers;

use crate::section::{ContainerKey, ShellSettings};
use crate::workspace::{Change, Workspace};
use contract::CallReports;
use futures::future::BoxFuture;
use std::sync::Arc;

/// The subcommand of the product's program that runs [`run_script_process`].
pub const RUN_SCRIPT: &str = "run-script";
/// The subcommand of the product's program that runs [`run_programs_process`], on Linux.
pub const RUN_PROGRAMS: &str = "run-programs";
/// The subcommand of the product's program that runs [`run_confined`], on Linux.
pub const RUN_CONFINED: &str = "run-confined";

/// The longest script in bytes.
const MAX_SCRIPT: usize = 256 << 10;
/// The most output of each kind in bytes, of which the model reads less.
const MAX_OUTPUT: usize = 4 << 20;

/// Runs commands over the files of a workspace. An implementation must not reach anything else, must end when
/// its future is dropped, and must not compute on a thread of the async runtime.
pub(crate) trait Shell: Send + Sync {
    /// Runs a script. Its changes to files are returned and not stored.
    fn run(&self, request: ShellRequest) -> BoxFuture<'_, Result<ShellOutput, ShellError>>;
}

/// A script, and where it runs.
pub(crate) struct ShellRequest {
    pub(crate) script: String,
    /// The files that it sees.
    pub(crate) workspace: Workspace,
    pub(crate) settings: ShellSettings,
    /// The container, at that level.
    pub(crate) container: Option<Arc<ContainerKey>>,
    /// Receives the output so far, for the user.
    pub(crate) reports: CallReports,
}

/// The result of a script.
#[derive(Debug, Default)]
pub(crate) struct ShellOutput {
    pub(crate) exit_code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Whether more was written to one of the two than is in them.
    pub(crate) is_truncated: bool,
    /// The files that it has changed.
    pub(crate) changes: Vec<Change>,
    /// The files that cannot be stored, each with the reason.
    pub(crate) left_out: Vec<String>,
    /// Why none of its changes can be stored; then `changes` is empty.
    pub(crate) refused: Option<String>,
}

/// Why a script was ended. Nothing that it changed is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShellError {
    /// It cannot be run, or it used more than it may; the reason is for the model, as a clause.
    Ended(String),
    /// Scripts cannot run at this level; the reason is for the operator.
    Unavailable(String),
    /// There is too much to do; it was not started.
    Busy,
}

/// Returns why a script was ended that took longer than it may, for the model.
fn took_longer(settings: &ShellSettings) -> String {
    format!("it took longer than {} s", settings.timeout.as_secs())
}
