//! `cargo xtask serve`

use crate::build::{self, Profile};
use anyhow::Result;
use std::process::Command;
use xshell::Shell;

/// Builds the server and runs it.
pub(crate) fn run(shell: &Shell, arguments: &[String]) -> Result<()> {
    build::run(shell, Profile::Debug)?;
    become_server(shell, "chatwright", arguments)
}

/// The same for the example whose page is written in Rust.
pub(crate) fn rust_page(shell: &Shell, arguments: &[String]) -> Result<()> {
    build::rust_page(shell)?;
    become_server(shell, "rust-page", arguments)
}

/// Becomes the server, so that signals and the exit code are the server's own. It runs in the folder of the caller: that is where
/// the paths among the arguments begin.
fn become_server(shell: &Shell, binary: &str, arguments: &[String]) -> Result<()> {
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
        anyhow::ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}
