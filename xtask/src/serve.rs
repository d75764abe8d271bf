//! `cargo xtask serve` and `cargo xtask rust-page`: build and run a server.

use crate::build::{self, Profile};
use anyhow::Result;
use std::process::Command;
use xshell::Shell;

/// Builds the server and runs it.
pub(crate) fn run(shell: &Shell, arguments: &[String]) -> Result<()> {
    build::run(shell, Profile::Debug)?;
    exec_server(shell, "chatwright", arguments)
}

/// Builds the example whose page is written in Rust and runs its server.
pub(crate) fn rust_page(shell: &Shell, arguments: &[String]) -> Result<()> {
    build::rust_page(shell)?;
    exec_server(shell, "rust-page", arguments)
}

/// Replaces this process by the server, so that it gets the signals and its exit code is returned.
/// It runs in the caller's working directory, which relative paths among the arguments refer to.
fn exec_server(shell: &Shell, binary: &str, arguments: &[String]) -> Result<()> {
    let mut server = Command::new(shell.current_dir().join("target/debug").join(binary));
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
