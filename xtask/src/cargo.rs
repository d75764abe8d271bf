//! Runs cargo from a program that cargo runs.

use std::path::Path;
use xshell::{Cmd, Shell};

/// Prefixes of the variables by which cargo describes the running package, `xtask`. Some build
/// scripts (ring's) rerun when they change, so builds from here and from a plain shell would
/// invalidate each other.
const XTASK_VARIABLES: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];

/// Returns a cargo command with the environment of a plain shell.
pub(crate) fn cargo(shell: &Shell) -> Cmd<'_> {
    plain(shell, "cargo")
}

/// Returns a command with the environment of a plain shell, for a program that runs cargo.
pub(crate) fn plain(shell: &Shell, program: impl AsRef<Path>) -> Cmd<'_> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names
        .filter(|name| XTASK_VARIABLES.iter().any(|prefix| name.starts_with(prefix)))
        .fold(shell.cmd(program), |command, name| command.env_remove(name))
}
