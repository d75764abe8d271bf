//! `chatwright schema`

use std::io::{Write, stdout};
use std::process::ExitCode;

/// Prints the JSON Schema of the config.
pub(crate) fn run() -> ExitCode {
    // Whoever closed the output has seen enough.
    let _ = writeln!(stdout(), "{:#}", config::schema());
    ExitCode::SUCCESS
}
