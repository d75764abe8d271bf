//! `cargo xtask serve`

use crate::build::{self, Profile};
use anyhow::Result;
use xshell::{Shell, cmd};

/// Builds and runs the server in the foreground.
pub(crate) fn run(shell: &Shell, arguments: &[String]) -> Result<()> {
    build::run(shell, Profile::Debug)?;
    Ok(cmd!(shell, "target/debug/chatwright serve {arguments...}").run()?)
}
