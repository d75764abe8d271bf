//! Cargo, run by a program that cargo runs.

use xshell::{Cmd, Shell};

/// What cargo tells `xtask` about `xtask`. Build scripts (ring's) ask to run again when it changes, so that with it a build
/// from here and one from a plain shell would undo each other's work.
const ABOUT_XTASK: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];

/// Cargo, as if from a plain shell.
pub(crate) fn cargo(shell: &Shell) -> Cmd<'_> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names
        .filter(|name| ABOUT_XTASK.iter().any(|prefix| name.starts_with(prefix)))
        .fold(shell.cmd("cargo"), |command, name| command.env_remove(name))
}
