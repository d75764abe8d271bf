//! `chatwright schema`

use std::process::ExitCode;

/// Prints the JSON Schema of the config.
pub(crate) fn run() -> ExitCode {
    println!("{:#}", config::schema());
    ExitCode::SUCCESS
}
