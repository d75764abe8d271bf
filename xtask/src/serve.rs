//! `cargo xtask serve`

use crate::build::{self, Profile};
use anyhow::Result;
use std::process::Command;
use xshell::Shell;

/// Builds the server and becomes it, so that signals and the exit code are the server's own. It runs in the folder of the
/// caller: that is where the paths among the arguments begin.
pub(crate) fn run(shell: &Shell, arguments: &[String]) -> Result<()> {
    build::run(shell, Profile::Debug)?;
    let mut server = Command::new(shell.current_dir().join("target/debug/chatwright"));
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
