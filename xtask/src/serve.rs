//! `cargo xtask serve`, `cargo xtask rust-page` and `cargo xtask extended`: build and run a server.

use crate::build;
use anyhow::Result;
use std::path::Path;
use std::process::Command;
use xshell::Shell;

/// Builds the server, with all features or only those that the demo needs, and runs it.
pub(crate) fn run(shell: &Shell, is_full: bool, arguments: &[String]) -> Result<()> {
    build::debug(shell, is_full)?;
    exec_server(&shell.current_dir().join("target/debug/chatwright"), arguments)
}

/// Builds an example that is a program with its own site, and runs its server.
pub(crate) fn example(shell: &Shell, package: &str, arguments: &[String]) -> Result<()> {
    build::example(shell, package)?;
    exec_server(&shell.current_dir().join("target/debug").join(package), arguments)
}

/// Replaces this process by the server, so that it gets the signals and its exit code is returned.
/// It runs in the caller's working directory, which relative paths among the arguments refer to.
pub(crate) fn exec_server(binary: &Path, arguments: &[String]) -> Result<()> {
    let mut server = Command::new(binary);
    server.arg("serve").args(arguments);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(server.exec().into())
    }
    #[cfg(not(unix))]
    {
        let status = server.status()?;
        anyhow::ensure!(status.success(), "the server exited with {status}");
        Ok(())
    }
}
