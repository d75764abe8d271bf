//! The child process alone, for tests and measurements.

use std::process::ExitCode;

fn main() -> ExitCode {
    documents::run_child(&std::env::args().nth(1).unwrap_or_default())
}
